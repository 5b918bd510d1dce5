; Calls of kernels without Python: arguments are looked at, the block of words is filled, and the
; kernel runs. A template like workers.ll; `get` and `put` read and write a field by its offset. What
; is not exactly as a record says goes to the plan's general function, with all arguments as they are.

declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_CallNoArgs(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare void @PyErr_Clear()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; --- One launch ----------------------------------------------------------------------------------

; A slot of the pool that no other launch uses, null if there is none.
define internal ptr @take_slot(ptr %pool) {
start:
  %free.at = getelementptr i8, ptr %pool, i64 $FREE
  br label %look
look:
  %free = load atomic i64, ptr %free.at acquire, align 8
  %none = icmp eq i64 %free, 0
  br i1 %none, label %without, label %take
take:
  %less = sub i64 %free, 1
  %left = and i64 %free, %less
  %swapped = cmpxchg ptr %free.at, i64 %free, i64 %left acq_rel monotonic, align 8
  %mine = extractvalue { i64, i1 } %swapped, 1
  br i1 %mine, label %taken, label %look
taken:
  %number = call i64 @llvm.cttz.i64(i64 %free, i1 true)
  %scaled = mul i64 %number, $SLOT_BYTES
  %offset = add i64 %scaled, $SLOT_START
  %slot = getelementptr i8, ptr %pool, i64 %offset
  ret ptr %slot
without:
  ret ptr null
}
declare i64 @llvm.cttz.i64(i64, i1)

define internal void @give_slot(ptr %pool, ptr %slot) {
  %start = ptrtoint ptr %pool to i64
  %place = ptrtoint ptr %slot to i64
  %offset = sub i64 %place, %start
  %inside = sub i64 %offset, $SLOT_START
  %number = udiv i64 %inside, $SLOT_BYTES
  %bit = shl i64 1, %number
  %free.at = getelementptr i8, ptr %pool, i64 $FREE
  atomicrmw or ptr %free.at, i64 %bit acq_rel
  ret void
}

; Run tasks [0, n) and wait: $RUN_DONE; $RUN_RAISED with an error set; $RUN_NO_MEMORY with nothing
; run; $RUN_FORKED in the child of a fork in the middle. To be called with Python's lock, which is
; let go unless the work is short. The pool is made if it is null.
define i64 @cubepy_run(ptr %context, ptr %known.pool, ptr %entry, ptr %arguments, i64 %tasks, i64 %arena_bytes, i64 %hint) {
begin:
  %absent = icmp eq ptr %known.pool, null
  br i1 %absent, label %make, label %start
make:
  %maker = get ptr %context CONTEXT_MAKE_POOL
  %made = call ptr @PyObject_CallNoArgs(ptr %maker)
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %nowhere, label %there
nowhere:
  ret i64 $RUN_RAISED
there:
  call void @Py_DecRef(ptr %made)
  %made.pool = get ptr %context CONTEXT_POOL
  br label %start
start:
  %pool = phi ptr [ %known.pool, %begin ], [ %made.pool, %there ]
  %own = alloca [$SLOT_BYTES x i8], align 64
  %forks = get i64 %context CONTEXT_FORKS
  %most = get i64 %pool THREADS_MOST
  %taken = call ptr @take_slot(ptr %pool)
  %alone = icmp eq ptr %taken, null
  br i1 %alone, label %private, label %shared
private:
  call void @llvm.memset.p0.i64(ptr %own, i8 0, i64 $SLOT_BYTES, i1 false)
  br label %prepare
shared:
  %several = call i64 @llvm.umin.i64(i64 %most, i64 %tasks)
  br label %prepare
prepare:
  %slot = phi ptr [ %own, %private ], [ %taken, %shared ]
  %threads = phi i64 [ 1, %private ], [ %several, %shared ]
  %box = getelementptr i8, ptr %slot, i64 $BOX
  %bytes = call i64 @llvm.umax.i64(i64 %arena_bytes, i64 64)
  %arena = call ptr @grown_arena(ptr %box, i64 %bytes)
  %without = icmp eq ptr %arena, null
  br i1 %without, label %out, label %weigh
weigh:
  %known = icmp sgt i64 %hint, 0
  %little = icmp slt i64 %hint, $PRICE_AWAKE
  %short = and i1 %known, %little
  br i1 %short, label %hold, label %release

hold:
  %early = call i64 @cubepy_launch(ptr %pool, ptr %slot, ptr %entry, ptr %arguments, i64 %tasks, i64 %arena_bytes, ptr %arena, i64 1, i64 %hint, i64 $CHECK_HELD)
  %over = icmp eq i64 %early, $DONE
  br i1 %over, label %out, label %reconsider
reconsider:
  ; It takes longer than it should: now others may have the lock, and workers may help.
  %state.long = call ptr @PyEval_SaveThread()
  %divisible = icmp sgt i64 %threads, 1
  br i1 %divisible, label %judge, label %resume

release:
  %state.new = call ptr @PyEval_SaveThread()
  %first = call i64 @cubepy_launch(ptr %pool, ptr %slot, ptr %entry, ptr %arguments, i64 %tasks, i64 %arena_bytes, ptr %arena, i64 %threads, i64 %hint, i64 $CHECK_SIGNALS)
  br label %judge

judge:
  %answer = phi i64 [ $NEEDS_WORKERS, %reconsider ], [ %first, %release ], [ %later, %resume ]
  %state = phi ptr [ %state.long, %reconsider ], [ %state.new, %release ], [ %state.kept, %resume ]
  switch i64 %answer, label %signals [
    i64 $DONE, label %finished
    i64 $NEEDS_WORKERS, label %recruit
  ]
finished:
  call void @PyEval_RestoreThread(ptr %state)
  br label %out

recruit:
  call void @PyEval_RestoreThread(ptr %state)
  %function = get ptr %pool START
  %started = call ptr @PyObject_CallNoArgs(ptr %function)
  %failed = icmp eq ptr %started, null
  br i1 %failed, label %lost, label %recruited
recruited:
  call void @Py_DecRef(ptr %started)
  %forks.now = get i64 %context CONTEXT_FORKS
  %split = icmp ne i64 %forks.now, %forks
  br i1 %split, label %forked, label %invite
invite:
  %state.recruited = call ptr @PyEval_SaveThread()
  %ready.at = getelementptr i8, ptr %pool, i64 $READY
  %ready = load atomic i32, ptr %ready.at seq_cst, align 4
  %workers = icmp ne i32 %ready, 0
  br i1 %workers, label %open, label %resume
open:
  call void @cubepy_share(ptr %pool, ptr %slot, i64 %threads)
  br label %resume

resume:
  %state.kept = phi ptr [ %state.long, %reconsider ], [ %state.recruited, %invite ], [ %state.recruited, %open ], [ %state.checked, %patient ]
  %later = call i64 @cubepy_resume(ptr %slot, ptr %arena, i64 $CHECK_SIGNALS)
  br label %judge

signals:
  call void @PyEval_RestoreThread(ptr %state)
  %interrupted = call i32 @PyErr_CheckSignals()
  %forks.after = get i64 %context CONTEXT_FORKS
  %torn = icmp ne i64 %forks.after, %forks
  br i1 %torn, label %forked, label %heard
heard:
  %calm = icmp eq i32 %interrupted, 0
  br i1 %calm, label %patient, label %lost
patient:
  %state.checked = call ptr @PyEval_SaveThread()
  br label %resume

lost:
  ; No further chunk begins, and those that have are waited for: they still use the arguments.
  %state.lost = call ptr @PyEval_SaveThread()
  call void @cubepy_cancel(ptr %slot)
  br label %drain
drain:
  %last = call i64 @cubepy_resume(ptr %slot, ptr %arena, i64 $CHECK_SIGNALS)
  %drained = icmp eq i64 %last, $DONE
  br i1 %drained, label %raised, label %drain
raised:
  call void @PyEval_RestoreThread(ptr %state.lost)
  br label %out
forked:
  ret i64 $RUN_FORKED

out:
  %status = phi i64 [ $RUN_NO_MEMORY, %prepare ], [ $RUN_DONE, %hold ], [ $RUN_DONE, %finished ], [ $RUN_RAISED, %raised ]
  br i1 %alone, label %discard, label %return
discard:
  call void @give_memory(ptr %arena)
  ret i64 %status
return:
  call void @give_slot(ptr %pool, ptr %slot)
  ret i64 %status
}

; Run all tasks here and now, with Python's lock.
define internal void @run_held(ptr %entry, ptr %block, i64 %tasks, ptr %arena) alwaysinline {
  %floats = call i64 @enter_default_floats()
  call void %entry(ptr %block, i64 0, i64 %tasks, ptr %arena)
  call void @leave_default_floats(i64 %floats)
  ret void
}

; --- One argument --------------------------------------------------------------------------------

; Write the words of an array, and the memory it covers to %span; 0 if it is not as expected.
define internal i1 @fill_array(ptr %parameter, ptr %array, ptr %words, ptr %span) alwaysinline {
start:
  %dtype = get ptr %array ARRAY_DTYPE
  %dtype.wanted = get ptr %parameter PARAMETER_VALUE
  %same.dtype = icmp eq ptr %dtype, %dtype.wanted
  br i1 %same.dtype, label %rank, label %wrong
rank:
  %ndim.32 = get i32 %array ARRAY_NDIM
  %ndim = sext i32 %ndim.32 to i64
  %ndim.wanted = get i64 %parameter PARAMETER_NDIM
  %same.ndim = icmp eq i64 %ndim, %ndim.wanted
  br i1 %same.ndim, label %layout, label %wrong
layout:
  %flags.32 = get i32 %array ARRAY_FLAGS
  %flags.all = zext i32 %flags.32 to i64
  %flags = and i64 %flags.all, $FLAGS_SEEN
  %flags.wanted = get i64 %parameter PARAMETER_FLAGS
  %same.flags = icmp eq i64 %flags, %flags.wanted
  br i1 %same.flags, label %sort, label %wrong
sort:
  %classes = get ptr %parameter PARAMETER_CLASSES
  %data = get ptr %array ARRAY_DATA
  store ptr %data, ptr %words
  %dense = icmp eq ptr %classes, null
  br i1 %dense, label %copy, label %strided
strided:
  %fits = call i1 @fill_strides(ptr %parameter, ptr %array, ptr %words, ptr %span)
  ret i1 %fits
copy:
  %shift = get i64 %parameter PARAMETER_SHIFT
  %lengths = get ptr %array ARRAY_DIMENSIONS
  %distances = get ptr %array ARRAY_STRIDES
  %shape = getelementptr i64, ptr %words, i64 1
  %strides = getelementptr i64, ptr %shape, i64 %ndim
  br label %axis
axis:
  %number = phi i64 [ 0, %copy ], [ %next, %axis ]
  %elements = phi i64 [ 1, %copy ], [ %product, %axis ]
  %length.at = getelementptr i64, ptr %lengths, i64 %number
  %length = load i64, ptr %length.at
  %shape.at = getelementptr i64, ptr %shape, i64 %number
  store i64 %length, ptr %shape.at
  %distance.at = getelementptr i64, ptr %distances, i64 %number
  %distance = load i64, ptr %distance.at
  %stride = ashr i64 %distance, %shift
  %strides.at = getelementptr i64, ptr %strides, i64 %number
  store i64 %stride, ptr %strides.at
  %product = mul i64 %elements, %length
  %next = add i64 %number, 1
  %more = icmp slt i64 %next, %ndim
  br i1 %more, label %axis, label %cover
cover:
  ; An array without elements covers nothing, at 0: whatever it points into, it overlaps nothing.
  %bytes = shl i64 %product, %shift
  %void = icmp eq i64 %bytes, 0
  %origin = ptrtoint ptr %data to i64
  %low = select i1 %void, i64 0, i64 %origin
  %high = add i64 %low, %bytes
  store i64 %low, ptr %span
  %span.high = getelementptr i64, ptr %span, i64 1
  store i64 %high, ptr %span.high
  ret i1 true
wrong:
  ret i1 false
}

; The same for an array with gaps, or in another order, whose strides must have the expected classes.
define internal i1 @fill_strides(ptr %parameter, ptr %array, ptr %words, ptr %span) {
start:
  %data = get ptr %array ARRAY_DATA
  %ndim = get i64 %parameter PARAMETER_NDIM
  %shift = get i64 %parameter PARAMETER_SHIFT
  %classes = get ptr %parameter PARAMETER_CLASSES
  %lengths = get ptr %array ARRAY_DIMENSIONS
  %distances = get ptr %array ARRAY_STRIDES
  %shape = getelementptr i64, ptr %words, i64 1
  %strides = getelementptr i64, ptr %shape, i64 %ndim
  %origin = ptrtoint ptr %data to i64
  %size = shl i64 1, %shift
  %part = sub i64 %size, 1
  %last = sub i64 %ndim, 1
  br label %axis
axis:
  %number = phi i64 [ 0, %start ], [ %next, %usable ]
  %low = phi i64 [ %origin, %start ], [ %low.next, %usable ]
  %high = phi i64 [ %origin, %start ], [ %high.next, %usable ]
  %empty = phi i1 [ false, %start ], [ %empty.next, %usable ]
  %some = icmp slt i64 %number, %ndim
  br i1 %some, label %look, label %cover
look:
  %length.at = getelementptr i64, ptr %lengths, i64 %number
  %length = load i64, ptr %length.at
  %shape.at = getelementptr i64, ptr %shape, i64 %number
  store i64 %length, ptr %shape.at
  %distance.at = getelementptr i64, ptr %distances, i64 %number
  %distance = load i64, ptr %distance.at
  %stride = ashr i64 %distance, %shift
  %strides.at = getelementptr i64, ptr %strides, i64 %number
  store i64 %stride, ptr %strides.at
  %odd = and i64 %distance, %part
  %even = icmp eq i64 %odd, 0
  br i1 %even, label %classify, label %wrong
classify:
  ; Of an axis with fewer than two elements the stride says nothing: it counts as row-major.
  %inner = icmp eq i64 %number, %last
  %usual = select i1 %inner, i8 $CLASS_ONE, i8 $CLASS_OTHER
  %zero = icmp eq i64 %stride, 0
  %one = icmp eq i64 %stride, 1
  %minus = icmp eq i64 %stride, -1
  %own.0 = select i1 %zero, i8 $CLASS_ZERO, i8 $CLASS_OTHER
  %own.1 = select i1 %one, i8 $CLASS_ONE, i8 %own.0
  %own = select i1 %minus, i8 $CLASS_MINUS_ONE, i8 %own.1
  %short = icmp slt i64 %length, 2
  %class = select i1 %short, i8 %usual, i8 %own
  %class.at = getelementptr i8, ptr %classes, i64 %number
  %class.wanted = load i8, ptr %class.at
  %same = icmp eq i8 %class, %class.wanted
  br i1 %same, label %usable, label %wrong
usable:
  %none = icmp eq i64 %length, 0
  %empty.next = or i1 %empty, %none
  %steps = sub i64 %length, 1
  %reach = mul i64 %steps, %distance
  %down = icmp slt i64 %reach, 0
  %less = select i1 %down, i64 %reach, i64 0
  %more = select i1 %down, i64 0, i64 %reach
  %low.next = add i64 %low, %less
  %high.next = add i64 %high, %more
  %next = add i64 %number, 1
  br label %axis
cover:
  %stop = add i64 %high, %size
  %low.seen = select i1 %empty, i64 0, i64 %low
  %stop.seen = select i1 %empty, i64 0, i64 %stop
  store i64 %low.seen, ptr %span
  %span.high = getelementptr i64, ptr %span, i64 1
  store i64 %stop.seen, ptr %span.high
  ret i1 true
wrong:
  ret i1 false
}

; Write the word of a number whose class is as expected; 0 if its value is not.
define internal i1 @fill_number(ptr %context, ptr %parameter, i64 %source, ptr %object, ptr %words) {
start:
  %box = alloca i32
  %value = getelementptr i8, ptr %object, i64 $SCALAR_VALUE
  switch i64 %source, label %wrong [
    i64 $SOURCE_DOUBLE, label %double
    i64 $SOURCE_SINGLE, label %single
    i64 $SOURCE_LONG, label %long
    i64 $SOURCE_WORD, label %word
    i64 $SOURCE_HALF_WORD, label %half
    i64 $SOURCE_BOOL, label %bool
  ]
double:
  %real.64 = load double, ptr %value
  br label %either.real
single:
  %real.32 = load float, ptr %value
  %real.wide = fpext float %real.32 to double
  br label %either.real
either.real:
  %real = phi double [ %real.64, %double ], [ %real.wide, %single ]
  %sink.real = get i64 %parameter PARAMETER_SINK
  switch i64 %sink.real, label %wrong [
    i64 $SINK_DOUBLE, label %store.double
    i64 $SINK_SINGLE, label %shorten
  ]
store.double:
  store double %real, ptr %words
  ret i1 true
shorten:
  ; Near the end of the range Python decides what is too large.
  %size = call double @llvm.fabs.f64(double %real)
  %safe = fcmp olt double %size, 1.0e38
  br i1 %safe, label %store.single, label %wrong
store.single:
  %short = fptrunc double %real to float
  %short.bits = bitcast float %short to i32
  %short.word = zext i32 %short.bits to i64
  store i64 %short.word, ptr %words
  ret i1 true

long:
  %converted = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %box)
  %overflow = load i32, ptr %box
  %fits = icmp eq i32 %overflow, 0
  br i1 %fits, label %integer, label %wrong
word:
  %word.64 = load i64, ptr %value
  br label %integer
half:
  %word.32 = load i32, ptr %value
  %word.wide = sext i32 %word.32 to i64
  br label %integer
integer:
  %whole = phi i64 [ %converted, %long ], [ %word.64, %word ], [ %word.wide, %half ]
  %sink.whole = get i64 %parameter PARAMETER_SINK
  switch i64 %sink.whole, label %wrong [
    i64 $SINK_INTEGER, label %range
    i64 $SINK_DOUBLE, label %whole.double
    i64 $SINK_SINGLE, label %whole.single
  ]
range:
  %low = get i64 %parameter PARAMETER_LOW
  %high = get i64 %parameter PARAMETER_HIGH
  %above = icmp sge i64 %whole, %low
  %below = icmp sle i64 %whole, %high
  %inside = and i1 %above, %below
  br i1 %inside, label %store.whole, label %wrong
store.whole:
  store i64 %whole, ptr %words
  ret i1 true
whole.double:
  %whole.real = sitofp i64 %whole to double
  store double %whole.real, ptr %words
  ret i1 true
whole.single:
  %whole.short = sitofp i64 %whole to float
  %whole.bits = bitcast float %whole.short to i32
  %whole.word = zext i32 %whole.bits to i64
  store i64 %whole.word, ptr %words
  ret i1 true

bool:
  %true = get ptr %context CONTEXT_TRUE
  %yes = icmp eq ptr %object, %true
  %bit = zext i1 %yes to i64
  store i64 %bit, ptr %words
  ret i1 true
wrong:
  ret i1 false
}
declare double @llvm.fabs.f64(double)

; --- One call ------------------------------------------------------------------------------------

; Fill the block from the arguments; 0 if some argument is not as the record says.
define internal i1 @fill(ptr %context, ptr %record, ptr %args, ptr %block, ptr %spans) alwaysinline {
start:
  %first = get ptr %record RECORD_PARAMETERS
  %count = get i64 %record RECORD_PARAMETER_COUNT
  br label %look
look:
  %number = phi i64 [ 0, %start ], [ %number.next, %next ]
  %parameter = phi ptr [ %first, %start ], [ %parameter.next, %next ]
  %span = phi ptr [ %spans, %start ], [ %span.next, %next ]
  %some = icmp slt i64 %number, %count
  br i1 %some, label %argument, label %right
argument:
  %position = get i64 %parameter PARAMETER_POSITION
  %object.at = getelementptr ptr, ptr %args, i64 %position
  %object = load ptr, ptr %object.at
  %type = get ptr %object OBJECT_TYPE
  %type.wanted = get ptr %parameter PARAMETER_TYPE
  %same.type = icmp eq ptr %type, %type.wanted
  br i1 %same.type, label %kind, label %wrong
kind:
  %word = get i64 %parameter PARAMETER_WORD
  %words = getelementptr i64, ptr %block, i64 %word
  %source = get i64 %parameter PARAMETER_SOURCE
  switch i64 %source, label %number.argument [
    i64 $SOURCE_ARRAY, label %array
    i64 $SOURCE_BUFFER, label %buffer
    i64 $SOURCE_IDENTITY, label %identity
  ]
buffer:
  %device.wanted = get ptr %parameter PARAMETER_DEVICE
  %device = get ptr %object BUFFER_DEVICE
  %same.device = icmp eq ptr %device, %device.wanted
  br i1 %same.device, label %mapped, label %wrong
mapped:
  ; The view is an array, or None where the device's memory is elsewhere.
  %view = get ptr %object BUFFER_VIEW
  %view.type = get ptr %view OBJECT_TYPE
  %array.type = get ptr %context CONTEXT_ARRAY_TYPE
  %visible = icmp eq ptr %view.type, %array.type
  br i1 %visible, label %array, label %wrong
array:
  %seen = phi ptr [ %object, %kind ], [ %view, %mapped ]
  %filled = call i1 @fill_array(ptr %parameter, ptr %seen, ptr %words, ptr %span)
  %span.after = getelementptr i64, ptr %span, i64 2
  br i1 %filled, label %next, label %wrong
identity:
  %object.wanted = get ptr %parameter PARAMETER_VALUE
  %same.object = icmp eq ptr %object, %object.wanted
  br i1 %same.object, label %next, label %wrong
number.argument:
  %converted = call i1 @fill_number(ptr %context, ptr %parameter, i64 %source, ptr %object, ptr %words)
  br i1 %converted, label %next, label %wrong
next:
  %span.next = phi ptr [ %span.after, %array ], [ %span, %identity ], [ %span, %number.argument ]
  %number.next = add i64 %number, 1
  %parameter.next = getelementptr i8, ptr %parameter, i64 $PARAMETER_BYTES
  br label %look
right:
  ret i1 true
wrong:
  ret i1 false
}

; Whether exactly the expected pairs of arrays share memory.
define internal i1 @overlap_as_expected(ptr %record, ptr %spans) alwaysinline {
start:
  %count = get i64 %record RECORD_ARRAY_COUNT
  %expected = get ptr %record RECORD_OVERLAPS
  br label %later
later:
  %number = phi i64 [ 1, %start ], [ %number.next, %done ]
  %pair = phi ptr [ %expected, %start ], [ %pair.last, %done ]
  %some = icmp slt i64 %number, %count
  br i1 %some, label %with, label %right
with:
  %span = getelementptr { i64, i64 }, ptr %spans, i64 %number
  %low = load i64, ptr %span
  %high.at = getelementptr i64, ptr %span, i64 1
  %high = load i64, ptr %high.at
  br label %earlier
earlier:
  %other = phi i64 [ 0, %with ], [ %other.next, %agree ]
  %pair.now = phi ptr [ %pair, %with ], [ %pair.next, %agree ]
  %span.other = getelementptr { i64, i64 }, ptr %spans, i64 %other
  %start.other = load i64, ptr %span.other
  %stop.at = getelementptr i64, ptr %span.other, i64 1
  %stop.other = load i64, ptr %stop.at
  %before = icmp slt i64 %low, %stop.other
  %behind = icmp slt i64 %start.other, %high
  %shared = and i1 %before, %behind
  %wanted.8 = load i8, ptr %pair.now
  %wanted = icmp ne i8 %wanted.8, 0
  %differs = xor i1 %shared, %wanted
  br i1 %differs, label %wrong, label %agree
agree:
  %pair.next = getelementptr i8, ptr %pair.now, i64 1
  %other.next = add i64 %other, 1
  %more = icmp slt i64 %other.next, %number
  br i1 %more, label %earlier, label %done
done:
  %pair.last = phi ptr [ %pair.next, %agree ]
  %number.next = add i64 %number, 1
  br label %later
right:
  ret i1 true
wrong:
  ret i1 false
}

; Whether every captured variable still holds what it held.
define internal i1 @variables_unchanged(ptr %record) alwaysinline {
start:
  %count = get i64 %record RECORD_VARIABLE_COUNT
  %first = get ptr %record RECORD_VARIABLES
  br label %look
look:
  %number = phi i64 [ 0, %start ], [ %number.next, %compare ]
  %variable = phi ptr [ %first, %start ], [ %variable.next, %compare ]
  %some = icmp slt i64 %number, %count
  br i1 %some, label %read, label %right
read:
  %holder = get ptr %variable VARIABLE_HOLDER
  %name = get ptr %variable VARIABLE_NAME
  %unnamed = icmp eq ptr %name, null
  br i1 %unnamed, label %cell, label %namespace
cell:
  %content = get ptr %holder CELL_VALUE
  br label %compare
namespace:
  %item = call ptr @PyDict_GetItemWithError(ptr %holder, ptr %name)
  br label %compare
compare:
  %now = phi ptr [ %content, %cell ], [ %item, %namespace ]
  %value = get ptr %variable VARIABLE_VALUE
  %same = icmp eq ptr %now, %value
  %number.next = add i64 %number, 1
  %variable.next = getelementptr i8, ptr %variable, i64 $VARIABLE_BYTES
  br i1 %same, label %look, label %changed
changed:
  ; A missing name is no error here, and one from comparing names is not ours to report.
  call void @PyErr_Clear()
  ret i1 false
right:
  ret i1 true
}

; Launch what a record says with a filled block; as `cubepy_run`.
define internal i64 @launch_record(ptr %context, ptr %record, ptr %block) alwaysinline {
start:
  %entry = get ptr %record RECORD_ENTRY
  %tasks = get i64 %record RECORD_TASKS
  %hint = get i64 %record RECORD_HINT
  %measured = get i64 %record RECORD_MEASURED
  %unmeasured = icmp eq i64 %measured, 0
  %expected = select i1 %unmeasured, i64 %hint, i64 %measured
  %known = icmp sgt i64 %expected, 0
  %little = icmp slt i64 %expected, $PRICE_AWAKE
  %short = and i1 %known, %little
  br i1 %short, label %held, label %long
held:
  %arena = get ptr %context CONTEXT_ARENA
  %calls = get i64 %record RECORD_CALLS
  %calls.next = add i64 %calls, 1
  put i64 %calls.next %record RECORD_CALLS
  %turn = and i64 %calls, 15
  %sample = icmp eq i64 %turn, 0
  br i1 %sample, label %timed, label %untimed
untimed:
  call void @run_held(ptr %entry, ptr %block, i64 %tasks, ptr %arena)
  ret i64 $RUN_DONE
timed:
  ; One call in sixteen says whether the work is still as short as it should be.
  %before = call i64 @now()
  call void @run_held(ptr %entry, ptr %block, i64 %tasks, ptr %arena)
  %after = call i64 @now()
  %took = sub i64 %after, %before
  put i64 %took %record RECORD_MEASURED
  ret i64 $RUN_DONE
long:
  %arena_bytes = get i64 %record RECORD_ARENA_BYTES
  %users = get i64 %record RECORD_USERS
  %users.more = add i64 %users, 1
  put i64 %users.more %record RECORD_USERS
  %begun = call i64 @now()
  %pool = get ptr %context CONTEXT_POOL
  %status = call i64 @cubepy_run(ptr %context, ptr %pool, ptr %entry, ptr %block, i64 %tasks, i64 %arena_bytes, i64 %expected)
  %ended = call i64 @now()
  %spent = sub i64 %ended, %begun
  put i64 %spent %record RECORD_MEASURED
  %users.now = get i64 %record RECORD_USERS
  %users.less = sub i64 %users.now, 1
  put i64 %users.less %record RECORD_USERS
  ret i64 %status
}

; Arguments in the order of the parameters; 0 if a keyword is no name of one that is left. Names are
; compared by address, as equal ones in code are the same object; Python judges others.
define internal i1 @arrange(ptr %plan, ptr %args, i64 %positional, ptr %keywords, ptr %ordered) {
start:
  %bytes = shl i64 %positional, 3
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %ordered, ptr align 8 %args, i64 %bytes, i1 false)
  %count = get i64 %plan PLAN_NAME_COUNT
  %names = get ptr %plan PLAN_NAMES
  %list = getelementptr i8, ptr %keywords, i64 $TUPLE_ITEMS
  br label %keyword
keyword:
  %place = phi i64 [ %positional, %start ], [ %place.next, %take ]
  %some = icmp slt i64 %place, %count
  br i1 %some, label %read, label %right
read:
  %turn = sub i64 %place, %positional
  %keyword.at = getelementptr ptr, ptr %list, i64 %turn
  %keyword.name = load ptr, ptr %keyword.at
  br label %search
search:
  %number = phi i64 [ %positional, %read ], [ %number.next, %other ]
  %left = icmp slt i64 %number, %count
  br i1 %left, label %compare, label %wrong
compare:
  %name.at = getelementptr ptr, ptr %names, i64 %number
  %name = load ptr, ptr %name.at
  %same = icmp eq ptr %name, %keyword.name
  br i1 %same, label %take, label %other
other:
  %number.next = add i64 %number, 1
  br label %search
take:
  %value.at = getelementptr ptr, ptr %args, i64 %place
  %value = load ptr, ptr %value.at
  %ordered.at = getelementptr ptr, ptr %ordered, i64 %number
  store ptr %value, ptr %ordered.at
  %place.next = add i64 %place, 1
  br label %keyword
right:
  ret i1 true
wrong:
  ret i1 false
}

; The vectorcall function of native kinds.
define ptr @cubepy_call(ptr %self, ptr %args, i64 %counted, ptr %names) {
start:
  %type = get ptr %self OBJECT_TYPE
  %offset = get i64 %type TYPE_VECTORCALL
  %field = getelementptr i8, ptr %self, i64 %offset
  %plan.at = getelementptr i8, ptr %field, i64 8
  %plan = load ptr, ptr %plan.at
  %context = get ptr %plan PLAN_CONTEXT
  %switches = get ptr %context CONTEXT_SWITCHES
  %closed = get i64 %switches SWITCHES_CLOSED
  %open = icmp eq i64 %closed, 0
  %positional = and i64 %counted, 9223372036854775807
  %most = get i64 %plan PLAN_POSITIONAL
  %permitted = icmp sle i64 %positional, %most
  %usual = and i1 %open, %permitted
  br i1 %usual, label %sort, label %forward
sort:
  %unnamed = icmp eq ptr %names, null
  br i1 %unnamed, label %begin, label %named
named:
  %named.count = get i64 %names TUPLE_LENGTH
  %both = add i64 %positional, %named.count
  %parameters = get i64 %plan PLAN_NAME_COUNT
  %complete = icmp eq i64 %both, %parameters
  br i1 %complete, label %arrange, label %forward
arrange:
  %ordered = alloca ptr, i64 %parameters, align 16
  %arranged = call i1 @arrange(ptr %plan, ptr %args, i64 %positional, ptr %names, ptr %ordered)
  br i1 %arranged, label %begin, label %forward
begin:
  %values = phi ptr [ %args, %sort ], [ %ordered, %arrange ]
  %count = phi i64 [ %positional, %sort ], [ %parameters, %arrange ]
  %epoch = get i64 %switches SWITCHES_EPOCH
  %bytes = get i64 %plan PLAN_BLOCK_BYTES
  %block = alloca i8, i64 %bytes, align 16
  %arrays = get i64 %plan PLAN_ARRAY_COUNT
  %spans = alloca { i64, i64 }, i64 %arrays, align 16
  %first = get ptr %plan PLAN_FIRST
  br label %try
try:
  %record = phi ptr [ %first, %begin ], [ %following, %other ]
  %none = icmp eq ptr %record, null
  br i1 %none, label %forward, label %compare
compare:
  %count.wanted = get i64 %record RECORD_COUNT
  %same.count = icmp eq i64 %count, %count.wanted
  %epoch.wanted = get i64 %record RECORD_EPOCH
  %same.epoch = icmp eq i64 %epoch, %epoch.wanted
  %any.epoch = icmp eq i64 %epoch.wanted, -1
  %right.epoch = or i1 %same.epoch, %any.epoch
  %possible = and i1 %same.count, %right.epoch
  br i1 %possible, label %arguments, label %other
arguments:
  %template = get ptr %record RECORD_BLOCK
  %size = get i64 %record RECORD_BLOCK_BYTES
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %block, ptr align 16 %template, i64 %size, i1 false)
  %filled = call i1 @fill(ptr %context, ptr %record, ptr %values, ptr %block, ptr %spans)
  br i1 %filled, label %aliases, label %other
aliases:
  %apart = call i1 @overlap_as_expected(ptr %record, ptr %spans)
  br i1 %apart, label %captures, label %other
captures:
  %unchanged = call i1 @variables_unchanged(ptr %record)
  br i1 %unchanged, label %launch, label %other
other:
  %following = get ptr %record RECORD_NEXT
  br label %try

launch:
  %status = call i64 @launch_record(ptr %context, ptr %record, ptr %block)
  switch i64 %status, label %complain [
    i64 $RUN_DONE, label %done
    i64 $RUN_RAISED, label %raised
    i64 $RUN_NO_MEMORY, label %forward
  ]
done:
  %result = get ptr %context CONTEXT_NONE
  %step = get i64 %context CONTEXT_NONE_REFERENCES
  %references = load i64, ptr %result
  %references.more = add i64 %references, %step
  store i64 %references.more, ptr %result
  ret ptr %result
raised:
  ret ptr null
complain:
  %complaint = get ptr %context CONTEXT_COMPLAIN
  %answer = call ptr @PyObject_CallNoArgs(ptr %complaint)
  ret ptr %answer

forward:
  %result.general = call ptr @forward(ptr %plan, ptr %self, ptr %args, i64 %counted, ptr %names)
  ret ptr %result.general
}

; Call the general function with the object itself before the arguments.
define internal ptr @forward(ptr %plan, ptr %self, ptr %args, i64 %counted, ptr %names) {
start:
  %positional = and i64 %counted, 9223372036854775807
  %named = icmp ne ptr %names, null
  br i1 %named, label %named.too, label %copy
named.too:
  %keywords = get i64 %names TUPLE_LENGTH
  br label %copy
copy:
  %more = phi i64 [ 0, %start ], [ %keywords, %named.too ]
  %all = add i64 %positional, %more
  %room = add i64 %all, 1
  %list = alloca ptr, i64 %room, align 16
  store ptr %self, ptr %list
  %rest = getelementptr ptr, ptr %list, i64 1
  %bytes = shl i64 %all, 3
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %rest, ptr align 8 %args, i64 %bytes, i1 false)
  %general = get ptr %plan PLAN_GENERAL
  %count = add i64 %positional, 1
  %result = call ptr @PyObject_Vectorcall(ptr %general, ptr %list, i64 %count, ptr %names)
  ret ptr %result
}

; The vectorcall function of tables: what a dict has for a whole number, or a tuple of them, of these
; very classes. Others may be equal to one, and are for Python to judge.
define ptr @cubepy_lookup(ptr %self, ptr %args, i64 %counted, ptr %names) {
start:
  %type = get ptr %self OBJECT_TYPE
  %offset = get i64 %type TYPE_VECTORCALL
  %field = getelementptr i8, ptr %self, i64 %offset
  %plan.at = getelementptr i8, ptr %field, i64 8
  %plan = load ptr, ptr %plan.at
  %context = get ptr %plan PLAN_CONTEXT
  %count = and i64 %counted, 9223372036854775807
  %one = icmp eq i64 %count, 1
  %positional = icmp eq ptr %names, null
  %usual = and i1 %one, %positional
  br i1 %usual, label %look, label %forward
look:
  %key = load ptr, ptr %args
  %key.type = get ptr %key OBJECT_TYPE
  %int = get ptr %context CONTEXT_INT_TYPE
  %tuple = get ptr %context CONTEXT_TUPLE_TYPE
  %is.int = icmp eq ptr %key.type, %int
  br i1 %is.int, label %find, label %several
several:
  %is.tuple = icmp eq ptr %key.type, %tuple
  br i1 %is.tuple, label %items, label %forward
items:
  %length = get i64 %key TUPLE_LENGTH
  %list = getelementptr i8, ptr %key, i64 $TUPLE_ITEMS
  br label %item
item:
  %number = phi i64 [ 0, %items ], [ %next, %inspect ]
  %more = icmp slt i64 %number, %length
  br i1 %more, label %inspect, label %find
inspect:
  %entry.at = getelementptr ptr, ptr %list, i64 %number
  %entry = load ptr, ptr %entry.at
  %entry.type = get ptr %entry OBJECT_TYPE
  %whole = icmp eq ptr %entry.type, %int
  %next = add i64 %number, 1
  br i1 %whole, label %item, label %forward
find:
  %table = get ptr %plan PLAN_FIRST
  %found = call ptr @PyDict_GetItemWithError(ptr %table, ptr %key)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %missed, label %done
done:
  call void @Py_IncRef(ptr %found)
  ret ptr %found
missed:
  call void @PyErr_Clear()
  br label %forward
forward:
  %result.general = call ptr @forward(ptr %plan, ptr %self, ptr %args, i64 %counted, ptr %names)
  ret ptr %result.general
}

; Launch what a command says with another block; as `cubepy_run`. A single task that is short needs
; neither a pool nor somebody who looks at the clock.
define internal i64 @run_block(ptr %context, ptr %command, ptr %block) {
start:
  %entry = get ptr %command COMMAND_ENTRY
  %tasks = get i64 %command COMMAND_TASKS
  %hint = get i64 %command COMMAND_HINT
  %single = icmp eq i64 %tasks, 1
  %known = icmp sgt i64 %hint, 0
  %little = icmp slt i64 %hint, $PRICE_AWAKE
  %short = and i1 %known, %little
  %alone = and i1 %single, %short
  br i1 %alone, label %held, label %long
held:
  %arena = get ptr %context CONTEXT_ARENA
  call void @run_held(ptr %entry, ptr %block, i64 1, ptr %arena)
  ret i64 $RUN_DONE
long:
  %arena_bytes = get i64 %command COMMAND_ARENA_BYTES
  %pool = get ptr %context CONTEXT_POOL
  %status = call i64 @cubepy_run(ptr %context, ptr %pool, ptr %entry, ptr %block, i64 %tasks, i64 %arena_bytes, i64 %hint)
  ret i64 %status
}

; The vectorcall function of what launches a command with a block in Python's bytes.
define ptr @cubepy_block(ptr %self, ptr %args, i64 %counted, ptr %names) {
start:
  %type = get ptr %self OBJECT_TYPE
  %offset = get i64 %type TYPE_VECTORCALL
  %field = getelementptr i8, ptr %self, i64 %offset
  %plan.at = getelementptr i8, ptr %field, i64 8
  %plan = load ptr, ptr %plan.at
  %context = get ptr %plan PLAN_CONTEXT
  %count = and i64 %counted, 9223372036854775807
  %one = icmp eq i64 %count, 1
  %positional = icmp eq ptr %names, null
  %usual = and i1 %one, %positional
  br i1 %usual, label %look, label %forward
look:
  %bytes = load ptr, ptr %args
  %bytes.type = get ptr %bytes OBJECT_TYPE
  %wanted.type = get ptr %context CONTEXT_BYTES_TYPE
  %right.type = icmp eq ptr %bytes.type, %wanted.type
  br i1 %right.type, label %measure, label %forward
measure:
  %size = get i64 %bytes TUPLE_LENGTH
  %wanted.size = get i64 %plan PLAN_BLOCK_BYTES
  %right.size = icmp eq i64 %size, %wanted.size
  br i1 %right.size, label %launch, label %forward
launch:
  %block = getelementptr i8, ptr %bytes, i64 $BYTES_CONTENT
  %command = get ptr %plan PLAN_FIRST
  %status = call i64 @run_block(ptr %context, ptr %command, ptr %block)
  switch i64 %status, label %complain [
    i64 $RUN_DONE, label %done
    i64 $RUN_RAISED, label %raised
    i64 $RUN_NO_MEMORY, label %forward
  ]
done:
  %result = get ptr %context CONTEXT_NONE
  %step = get i64 %context CONTEXT_NONE_REFERENCES
  %references = load i64, ptr %result
  %references.more = add i64 %references, %step
  store i64 %references.more, ptr %result
  ret ptr %result
raised:
  ret ptr null
complain:
  %complaint = get ptr %context CONTEXT_COMPLAIN
  %answer = call ptr @PyObject_CallNoArgs(ptr %complaint)
  ret ptr %answer
forward:
  %result.general = call ptr @forward(ptr %plan, ptr %self, ptr %args, i64 %counted, ptr %names)
  ret ptr %result.general
}

; Launch commands one after another; as `cubepy_run`, at the first that is not done.
define i64 @cubepy_replay(ptr %context, ptr %commands, i64 %count) {
start:
  br label %look
look:
  %number = phi i64 [ 0, %start ], [ %number.next, %next ]
  %command = phi ptr [ %commands, %start ], [ %command.next, %next ]
  %some = icmp slt i64 %number, %count
  br i1 %some, label %launch, label %done
launch:
  %entry = get ptr %command COMMAND_ENTRY
  %block = get ptr %command COMMAND_BLOCK
  %tasks = get i64 %command COMMAND_TASKS
  %hint = get i64 %command COMMAND_HINT
  %known = icmp sgt i64 %hint, 0
  %little = icmp slt i64 %hint, $PRICE_AWAKE
  %short = and i1 %known, %little
  br i1 %short, label %held, label %long
held:
  %arena = get ptr %context CONTEXT_ARENA
  call void @run_held(ptr %entry, ptr %block, i64 %tasks, ptr %arena)
  br label %next
long:
  %arena_bytes = get i64 %command COMMAND_ARENA_BYTES
  %pool = get ptr %context CONTEXT_POOL
  %status = call i64 @cubepy_run(ptr %context, ptr %pool, ptr %entry, ptr %block, i64 %tasks, i64 %arena_bytes, i64 %hint)
  %over = icmp eq i64 %status, $RUN_DONE
  br i1 %over, label %next, label %stopped
next:
  %number.next = add i64 %number, 1
  %command.next = getelementptr i8, ptr %command, i64 $COMMAND_BYTES
  br label %look
done:
  ret i64 $RUN_DONE
stopped:
  ret i64 %status
}
