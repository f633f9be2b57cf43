"""What is made of the list of commands when the project is built."""

load(":commands.bzl", "COMMANDS", "path_of")

def _command_list_impl(ctx):
    lines = ["# name, other names, program, group, first words, summary"]
    for command in COMMANDS:
        fields = [
            command.name,
            " ".join(command.also),
            path_of(command.program),
            command.group,
            " ".join(command.words),
            command.summary,
        ]
        lines.append("\t".join(fields))
    ctx.actions.write(ctx.outputs.out, "\n".join(lines) + "\n")

# The commands as tab-separated lines.
command_list = rule(
    implementation = _command_list_impl,
    attrs = {"out": attr.output(mandatory = True)},
)

def _help_of(ctx, name, program):
    """What the program prints for --help."""
    out = ctx.actions.declare_file("helps/%s.txt" % name)
    tool = program[DefaultInfo].files_to_run
    executable = tool.executable if tool and tool.executable else program.files.to_list()[0]
    ctx.actions.run_shell(
        command = '"$1" --help > "$2"',
        arguments = [executable.path, out.path],
        tools = [tool] if tool and tool.executable else [executable],
        outputs = [out],
        mnemonic = "CommandHelp",
        use_default_shell_env = True,
    )
    return out

def _command_pages_impl(ctx):
    names = [command.name for command in COMMANDS]
    helps = [_help_of(ctx, name, program) for name, program in zip(names, ctx.attr.programs)]
    made = ["completions/" + shell for shell in ["neptune.bash", "_neptune", "neptune.fish"]]
    made += ["man/neptune.1"] + ["man/neptune-%s.1" % name for name in names]
    outs = [ctx.actions.declare_file(path) for path in made]
    folder = outs[0].dirname[:-len("/completions")]
    ctx.actions.run_shell(
        command = 'exec python3 -B "$@"',
        arguments = [ctx.file.generator.path, ctx.file.list.path, folder] +
                    ["%s=%s" % (name, text.path) for name, text in zip(names, helps)],
        inputs = helps + [ctx.file.generator, ctx.file.list] + ctx.files.modules,
        outputs = outs,
        mnemonic = "CommandPages",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset(outs), runfiles = ctx.runfiles(files = outs))]

# Completions and manual pages. Fails if the help of a program is not in the form of tools/terminal.
command_pages = rule(
    implementation = _command_pages_impl,
    attrs = {
        "programs": attr.label_list(allow_files = True, doc = "those of COMMANDS, in its order"),
        "list": attr.label(allow_single_file = True),
        "generator": attr.label(allow_single_file = True),
        "modules": attr.label_list(allow_files = True),
    },
)
