"""Callees as IR: only kernels that Python calls become machine code; the functions that they call
stay LLVM IR.

Numba makes an executable of every function that a kernel calls. On every level, numba then links
the code of the function into its caller and optimises it again. More than half of the time to
compile an engine goes into executables that nothing calls. Here a function that another function
needs is lowered to LLVM IR, and the outermost kernel links all IR once, optimises it once and
finalises it.

If Python calls a function that was compiled for a caller, the function is compiled once more.
"""

from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
import numba
from numba._dynfunc import make_function
from numba.core import sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher

from halfway.core.compiler import shortcuts

# The tests of this module ran with these versions of numba. With any other version, every callee
# becomes machine code, with the same results.
PROVEN = ("0.68",)
IS_PROVEN = numba.__version__.rpartition(".")[0] in PROVEN
if IS_PROVEN:
    shortcuts.install()


class IRLibrary(JITCodeLibrary):
    """A library of numba for callees as IR: it does not finalise the IR libraries that it links.

    A caller receives the IR of the library as lowered, optimised function by function.
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._as_lowered: Any = None  # the IR of this library alone

    def add_linking_library(self, library: Any) -> None:
        """Register a library of callees to link with this library; an `IRLibrary` stays IR."""
        if not isinstance(library, IRLibrary):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def _get_module_for_linking(self) -> Any:
        if self._finalized:  # called by plain numba
            return super()._get_module_for_linking()
        if self._as_lowered is None:
            self._as_lowered = _for_linking(self._final_module.clone())
        return self._as_lowered

    def finalize(self) -> None:
        """Link the IR of all callees below this library, optimise the IR, and compile it to machine
        code.
        """
        self._codegen._check_llvm_bugs()
        self._raise_if_finalized()
        # Callers come first, because the linker drops a function without a caller so far.
        for library in reversed(list(_below(self, set()))):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):
                env = lookup_environment(variable.name)
                if env is not None:
                    self._codegen.set_env(variable.name, env)

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return a library with its callees for the compile cache: object code, and the names that
        it defines.

        Numba also stores the IR, for callers. Our callers use the IR of the function itself. So a
        module of empty functions is enough, and loads faster than the object code.
        """
        self._ensure_finalized()
        names = [
            f.name
            for f in self._final_module.functions
            if not f.is_declaration and f.linkage == llvm.Linkage.external
        ]
        text = "\n".join(f'define void @"{name}"() {{ ret void }}' for name in names)
        return self.name, "object", (self._get_compiled_object(), _module(text).as_bitcode())


def _module(text: str) -> Any:
    return llvm.parse_assembly(text)


def _for_linking(module: Any) -> Any:
    for function in module.functions:
        if not function.is_declaration and function.linkage == llvm.Linkage.external:
            function.linkage = "linkonce_odr"
    return module


def _below(library: Any, seen: set[Any]) -> Iterator[Any]:
    """Yield each library below an IR library once, callees before callers."""
    for other in library._linking_libraries:
        if other not in seen:
            seen.add(other)
            if isinstance(other, IRLibrary) and not other._finalized:
                yield from _below(other, seen)
            yield other


class _KernelCompiler(Compiler):
    """Numba's compiler, with an `IRLibrary` for the function's code."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function into an `IRLibrary`."""
        library = IRLibrary(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()
        self.state.library = library
        return super().compile_extra(func)


class _CalleeCompiler(_KernelCompiler):
    """Numba's compiler, which stops at the IR."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function into an `IRLibrary` that stays IR."""
        target = self.state.targetctx.subtarget(get_executable=_entry_of_callee)
        self.state.targetctx = target
        return super().compile_extra(func)


def _entry_of_callee(library: Any, fndesc: Any, env: Any) -> Any:
    """Return the object by which numba finds the IR of a callee; Python cannot call this object."""
    name = fndesc.qualname.split(".")[-1]
    return make_function(fndesc.lookup_module(), name, "a callee as IR", 0, env, (library,))


class KernelDispatcher(CPUDispatcher):
    """A compiled function that is a kernel for Python, in machine code, and a callee for compiled
    callers, as IR.
    """

    def __init__(self, py_func: Any, targetoptions: dict[str, Any]) -> None:
        super().__init__(
            py_func, locals={}, targetoptions=targetoptions, pipeline_class=_KernelCompiler
        )
        only = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        self._callee_compiler = type(self._compiler)(
            py_func, self.targetdescr, {**targetoptions, **only}, {}, _CalleeCompiler
        )
        self._callees: dict[tuple[Any, ...], Any] = {}  # argument types -> compiler's result

    def compile(self, sig: Any) -> Any:
        """Compile the function for argument types: to IR, as a callee, while a caller is compiled,
        or else to a kernel for Python.
        """
        if not global_compiler_lock.is_locked():
            if IS_PROVEN:
                shortcuts.import_array_functions()
            with self._cache.alone(sig, self.targetctx), shortcuts.collector_paused():
                return super().compile(sig)
        args, return_type = sigutils.normalize_signature(sig)
        with self._compiling_counter:
            if tuple(args) not in self._callees:
                self._callees[tuple(args)] = self._callee_compiler.compile(args, return_type)
        return self._callees[tuple(args)].entry_point

    def get_overload(self, sig: Any) -> Any:
        """Return the object by which numba finds a callee's code for argument types when it
        compiles a caller.
        """
        args, _ = sigutils.normalize_signature(sig)
        found = self._callees.get(tuple(args)) or self.overloads[tuple(args)]
        return found.entry_point

    @property
    def nopython_signatures(self) -> list[Any]:
        """The signatures that are compiled, to the IR of a callee or to the machine code of a
        kernel.
        """
        found = {**self.overloads, **self._callees}
        return [result.signature for result in found.values()]
