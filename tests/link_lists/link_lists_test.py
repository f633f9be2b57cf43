"""A simulated cluster links the same agents as the node program.

Compares the libraries that Bazel links into the node, into the shared runtime that every node program
uses, and into the tests that run whole clusters in the simulated world.
"""

import pathlib
import unittest

FOLDER = pathlib.Path("tests/link_lists")
REAL_WORLD = "//neptune/world/real"
SIMULATED_WORLD = "//neptune/world/sim"


def libraries(name):
    labels = (FOLDER / name).read_text().split()
    return {label for label in labels if label.startswith("//neptune/")}


class LinkListsTest(unittest.TestCase):
    def setUp(self):
        self.node = libraries("node_libraries")
        self.shared = libraries("shared_runtime_libraries")
        self.simulated = [libraries("simulated_cluster_libraries"), libraries("chaos_libraries")]
        self.lab = libraries("lab_libraries")

    def test_the_lists_hold_the_agents(self):
        for agent in ("service:service_host", "service:client", "membership:availability_listener",
                      "wire:server_connection", "balancing:probe_pool", "thread:user_thread"):
            self.assertIn(f"//neptune/{agent}", self.node)

    def test_a_node_names_neither_world(self):
        worlds = {label for label in self.node if label.startswith((REAL_WORLD, SIMULATED_WORLD))}
        self.assertEqual(worlds, set())

    def test_the_simulated_cluster_links_every_library_of_the_node(self):
        for simulated in self.simulated:
            self.assertEqual(self.node - simulated, set())

    def test_the_shared_runtime_links_every_library_of_the_node(self):
        self.assertEqual(self.node - self.shared, set())

    def test_the_simulated_cluster_adds_only_its_world_and_its_modules(self):
        for simulated in self.simulated:
            added = simulated - self.node - self.shared
            self.assertEqual(added, set(), "a simulated cluster runs code that no node program has")

    def test_experiments_run_the_nodes_of_the_shared_runtime(self):
        self.assertEqual(self.node - self.lab, set())
        self.assertEqual(self.lab - self.shared - {"//neptune:neptune"}, set())


if __name__ == "__main__":
    unittest.main()
