"""Small kernels in LLVM text for the tests of the thread pool, and how to call them.

Each is what the code generator makes: `void kernel(ptr args, i64 begin, i64 end, ptr arena)`.
"""

import ctypes
import functools

import numpy as np
from numpy.typing import NDArray

from cubepy_cpu import jit

_LOOP = """
declare i64 @llvm.readcyclecounter()
define void @kernel(ptr %args, i64 %begin, i64 %end, ptr %arena) {{
start:
  %out = load ptr, ptr %args
  %word1.at = getelementptr i64, ptr %args, i64 1
  %word1 = load i64, ptr %word1.at
  %out1 = inttoptr i64 %word1 to ptr
  {before}
  br label %loop
loop:
  %i = phi i64 [ %begin, %start ], [ %next, {back} ]
  {body}
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  {after}
  ret void
}}
"""

# out[i] += 1
COUNT = _LOOP.format(
    before="",
    back="%loop",
    body="""
  %p = getelementptr i32, ptr %out, i64 %i
  %v = load i32, ptr %p
  %w = add i32 %v, 1
  store i32 %w, ptr %p""",
    after="",
)

# out[i] += 1 after about args[1] steps of counting.
SLOW = _LOOP.format(
    before="",
    back="%worked",
    body="""
  br label %spin
spin:
  %s = phi i64 [ 0, %loop ], [ %s.next, %spin ]
  %s.next = add i64 %s, 1
  call void asm sideeffect "", ""()
  %go = icmp slt i64 %s.next, %word1
  br i1 %go, label %spin, label %worked
worked:
  %p = getelementptr i32, ptr %out, i64 %i
  %v = load i32, ptr %p
  %w = add i32 %v, 1
  store i32 %w, ptr %p""",
    after="",
)

# out[0] counts arrivals; each task waits until args[1] have arrived, or a long time, and counts the
# tasks that waited in vain in out[1].
MEET = _LOOP.format(
    before="",
    back="%gone",
    body="""
  atomicrmw add ptr %out, i64 1 seq_cst
  %missed.at = getelementptr i64, ptr %out, i64 1
  br label %wait
wait:
  %n = phi i64 [ 0, %loop ], [ %n.next, %still ]
  %here = load atomic i64, ptr %out seq_cst, align 8
  %all = icmp sge i64 %here, %word1
  br i1 %all, label %gone, label %still
still:
  %n.next = add i64 %n, 1
  %hope = icmp slt i64 %n.next, 20000000000
  br i1 %hope, label %wait, label %vain
vain:
  atomicrmw add ptr %missed.at, i64 1 seq_cst
  br label %gone
gone:""",
    after="",
)

# Fills args[1] 64-bit words of the arena with `begin`, reads them back, and counts in out[0] the
# words that somebody else has written, in out[1] the chunks, in out[2] the misaligned arenas.
ARENA = """
define void @kernel(ptr %args, i64 %begin, i64 %end, ptr %arena) {
start:
  %out = load ptr, ptr %args
  %words.at = getelementptr i64, ptr %args, i64 1
  %words = load i64, ptr %words.at
  %chunks = getelementptr i64, ptr %out, i64 1
  %skewed = getelementptr i64, ptr %out, i64 2
  atomicrmw add ptr %chunks, i64 1 seq_cst
  %address = ptrtoint ptr %arena to i64
  %low = and i64 %address, 63
  %bad = icmp ne i64 %low, 0
  %one = zext i1 %bad to i64
  atomicrmw add ptr %skewed, i64 %one seq_cst
  br label %fill
fill:
  %i = phi i64 [ 0, %start ], [ %i.next, %fill ]
  %p = getelementptr i64, ptr %arena, i64 %i
  store volatile i64 %begin, ptr %p
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %words
  br i1 %i.more, label %fill, label %check
check:
  %j = phi i64 [ 0, %fill ], [ %j.next, %check ]
  %q = getelementptr i64, ptr %arena, i64 %j
  %v = load volatile i64, ptr %q
  %other = icmp ne i64 %v, %begin
  %count = zext i1 %other to i64
  atomicrmw add ptr %out, i64 %count monotonic
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %words
  br i1 %j.more, label %check, label %done
done:
  ret void
}
"""

# Logs (begin, end, arena) of each chunk at out[3 * n], n counting up in the word of args[1], then
# counts to args[2].
LOG = """
define void @kernel(ptr %args, i64 %begin, i64 %end, ptr %arena) {
start:
  %out = load ptr, ptr %args
  %counter.at = getelementptr ptr, ptr %args, i64 1
  %counter = load ptr, ptr %counter.at
  %steps.at = getelementptr ptr, ptr %args, i64 2
  %steps = load i64, ptr %steps.at
  %n = atomicrmw add ptr %counter, i64 1 seq_cst
  %at = mul i64 %n, 3
  %p = getelementptr i64, ptr %out, i64 %at
  store i64 %begin, ptr %p
  %q = getelementptr i64, ptr %p, i64 1
  store i64 %end, ptr %q
  %r = getelementptr i64, ptr %p, i64 2
  store ptr %arena, ptr %r
  br label %spin
spin:
  %s = phi i64 [ 0, %start ], [ %s.next, %spin ]
  %s.next = add i64 %s, 1
  call void asm sideeffect "", ""()
  %go = icmp slt i64 %s.next, %steps
  br i1 %go, label %spin, label %done
done:
  ret void
}
"""

# out[i] = denormal * 1.0 as f32 bits (0 when denormals are flushed), after an inexact division.
DENORMAL = _LOOP.format(
    before="",
    back="%loop",
    body="""
  %p = getelementptr float, ptr %out, i64 %i
  %tiny = load volatile float, ptr %p
  %half = fmul float %tiny, 5.0e-1
  %inexact = fdiv float %half, 3.0
  store float %half, ptr %p""",
    after="",
)

# For x86: read and set the floating-point state.
CONTROL = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define void @get(ptr %p) {
  call void @llvm.x86.sse.stmxcsr(ptr %p)
  ret void
}
define void @set(ptr %p) {
  call void @llvm.x86.sse.ldmxcsr(ptr %p)
  ret void
}
"""


@functools.cache
def entry(text: str) -> int:
    """The address of a kernel."""
    return jit.load(jit.compile_object(text), "kernel")


def arguments(*words: int | NDArray[np.generic]) -> tuple[int, object]:
    """The address of a block of words, and what must be kept alive; arrays stand for their data."""
    numbers = [word if isinstance(word, int) else word.ctypes.data for word in words]
    block = (ctypes.c_uint64 * len(numbers))(*numbers)
    return ctypes.addressof(block), (block, words)
