"""Tests of experiments: the shape in every test run, the quick form by name."""

def lab_experiment(name, tags = []):
    """NAME_smoke_test asks for the shape within seconds; NAME_quick_test for the lines within a minute."""
    native.sh_test(
        name = name + "_smoke_test",
        size = "small",
        srcs = ["run_experiment.sh"],
        args = ["$(location :lab)", name, "--smoke"],
        data = [":lab"],
        tags = tags + ["no_san"],
    )
    native.sh_test(
        name = name + "_quick_test",
        size = "medium",
        srcs = ["run_experiment.sh"],
        args = ["$(location :lab)", name, "--quick"],
        data = [":lab"],
        tags = tags + ["manual", "no_san"],
    )
