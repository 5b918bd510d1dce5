"""A compilation in a process of its own, run as a script: some mistakes in assembly end LLVM's.

Reads a module and a machine from standard input, as JSON; ends with 0 if LLVM makes an object of
it. What LLVM complains of goes to standard error.
"""

import json
import sys


def main() -> None:
    """Compile, and forget the result."""
    order = json.load(sys.stdin)
    sys.path[:] = order["path"]
    import llvmlite.binding as llvm  # noqa: PLC0415 - found on the path just given

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()
    target = llvm.Target.from_triple(order["triple"]).create_target_machine(
        cpu=order["cpu"], features=order["features"], reloc="pic", codemodel="small"
    )
    module = llvm.parse_assembly(order["text"])
    module.triple = order["triple"]
    module.data_layout = str(target.target_data)
    module.verify()
    target.emit_object(module)


if __name__ == "__main__":
    main()
