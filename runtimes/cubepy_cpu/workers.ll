; The worker pool of the CPU runtime: what must run without Python's lock.
;
; A template: words with a dollar sign are offsets and settings of worker_code.py, which also
; supplies @enter_default_floats, @leave_default_floats, @pause, @sleep_while and @wake for the
; machine at hand, @now, @take_memory and @give_memory for its system, and tells the protocol.

declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)

; Tasks that the first chunk has: a share small enough to balance, and few enough to be soon over when
; each task takes long.
define internal i64 @first_size(i64 %tasks, i64 %threads) {
  %parts = mul i64 %threads, 64
  %share = udiv i64 %tasks, %parts
  %few = call i64 @llvm.umin.i64(i64 %share, i64 $FIRST_CHUNK)
  %size = call i64 @llvm.umax.i64(i64 %few, i64 1)
  ret i64 %size
}

; Take chunks until none is left (0) or the clock passes the deadline (1). Chunks grow while they
; are too short to pay for themselves, shrink when they are long, and never exceed half a thread's
; share of what is left.
define internal i64 @participate(ptr %slot, ptr %arena, i64 %deadline) {
start:
  %counter = getelementptr i8, ptr %slot, i64 $COUNTER
  %entry.at = getelementptr i8, ptr %slot, i64 $ENTRY
  %entry = load ptr, ptr %entry.at
  %arguments.at = getelementptr i8, ptr %slot, i64 $ARGUMENTS
  %arguments = load ptr, ptr %arguments.at
  %tasks.at = getelementptr i8, ptr %slot, i64 $TASKS
  %tasks = load i64, ptr %tasks.at
  %threads.at = getelementptr i8, ptr %slot, i64 $THREADS
  %threads = load i64, ptr %threads.at
  %first = call i64 @first_size(i64 %tasks, i64 %threads)
  %halves = shl i64 %threads, 1
  %floats = call i64 @enter_default_floats()
  %begun = call i64 @now()
  br label %look

look:
  %size = phi i64 [ %first, %start ], [ %next, %work ]
  %before = phi i64 [ %begun, %start ], [ %after, %work ]
  %seen = load atomic i64, ptr %counter monotonic, align 8
  %left = sub i64 %tasks, %seen
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %take, label %leave

take:
  %share = udiv i64 %left, %halves
  %most = call i64 @llvm.umax.i64(i64 %share, i64 1)
  %count = call i64 @llvm.umin.i64(i64 %size, i64 %most)
  %begin = atomicrmw add ptr %counter, i64 %count monotonic
  %got = icmp slt i64 %begin, %tasks
  br i1 %got, label %work, label %leave

work:
  %beyond = add i64 %begin, %count
  %end = call i64 @llvm.umin.i64(i64 %beyond, i64 %tasks)
  call void %entry(ptr %arguments, i64 %begin, i64 %end, ptr %arena)
  %after = call i64 @now()
  %spent = sub i64 %after, %before
  %short = icmp slt i64 %spent, $SHORT
  %long = icmp sgt i64 %spent, $LONG
  %twice = shl i64 %size, 1
  %double = call i64 @llvm.umin.i64(i64 %twice, i64 %tasks)
  %half = lshr i64 %size, 1
  %smaller = call i64 @llvm.umax.i64(i64 %half, i64 1)
  %shrunk = select i1 %long, i64 %smaller, i64 %size
  %next = select i1 %short, i64 %double, i64 %shrunk
  %late = icmp sgt i64 %after, %deadline
  br i1 %late, label %leave, label %look

leave:
  %answer = phi i64 [ 0, %look ], [ 0, %take ], [ 1, %work ]
  call void @leave_default_floats(i64 %floats)
  ret i64 %answer
}

; The arena in the box { ptr, i64 size }, grown to at least %bytes; null when there is no memory.
define internal ptr @grown_arena(ptr %box, i64 %bytes) {
start:
  %size.at = getelementptr i8, ptr %box, i64 8
  %size = load i64, ptr %size.at
  %old = load ptr, ptr %box
  %fits = icmp uge i64 %size, %bytes
  br i1 %fits, label %done, label %grow
grow:
  call void @give_memory(ptr %old)
  %padded = add i64 %bytes, 63
  %rounded = and i64 %padded, -64
  %new = call ptr @take_memory(i64 %rounded)
  store ptr %new, ptr %box
  %failed = icmp eq ptr %new, null
  %kept = select i1 %failed, i64 0, i64 %rounded
  store i64 %kept, ptr %size.at
  br label %done
done:
  %arena = phi ptr [ %old, %start ], [ %new, %grow ]
  ret ptr %arena
}

; A worker looks into one slot and helps if there is something to do; 1 if it did.
define internal i64 @visit(ptr %slot, ptr %box) {
look:
  %state.at = getelementptr i8, ptr %slot, i64 $STATE
  %users.at = getelementptr i8, ptr %slot, i64 $USERS
  %tasks.at = getelementptr i8, ptr %slot, i64 $TASKS
  %counter.at = getelementptr i8, ptr %slot, i64 $COUNTER
  %state = load atomic i32, ptr %state.at acquire, align 4
  %open = icmp ne i32 %state, 0
  br i1 %open, label %hint, label %nothing
hint:
  ; Only a hint, the slot may be changing hands: every opening is signalled after it is complete.
  %tasks = load atomic i64, ptr %tasks.at monotonic, align 8
  %seen = load atomic i64, ptr %counter.at monotonic, align 8
  %left = icmp slt i64 %seen, %tasks
  br i1 %left, label %enter, label %nothing
enter:
  %ignored = atomicrmw add ptr %users.at, i32 1 seq_cst
  %again = load atomic i32, ptr %state.at seq_cst, align 4
  %still = icmp ne i32 %again, 0
  br i1 %still, label %prepare, label %exit
prepare:
  %bytes.at = getelementptr i8, ptr %slot, i64 $ARENA_BYTES
  %bytes = load i64, ptr %bytes.at
  %wanted = call i64 @llvm.umax.i64(i64 %bytes, i64 64)
  %arena = call ptr @grown_arena(ptr %box, i64 %wanted)
  %able = icmp ne ptr %arena, null
  br i1 %able, label %help, label %exit
help:
  call i64 @participate(ptr %slot, ptr %arena, i64 9223372036854775807)
  br label %exit
exit:
  %helped = phi i64 [ 0, %enter ], [ 0, %prepare ], [ 1, %help ]
  %inside = atomicrmw sub ptr %users.at, i32 1 seq_cst
  %last = icmp eq i32 %inside, 1
  br i1 %last, label %tell, label %out
tell:
  %waiting.at = getelementptr i8, ptr %slot, i64 $WAITING
  %waiting = load atomic i32, ptr %waiting.at seq_cst, align 4
  %awaited = icmp ne i32 %waiting, 0
  br i1 %awaited, label %call, label %out
call:
  call void @wake(ptr %users.at, i32 1)
  br label %out
out:
  ret i64 %helped
nothing:
  ret i64 0
}

; One round over all slots; how many times it helped.
define internal i64 @round(ptr %pool, ptr %box) {
start:
  br label %next
next:
  %index = phi i64 [ 0, %start ], [ %following, %next ]
  %helped = phi i64 [ 0, %start ], [ %sum, %next ]
  %scaled = mul i64 %index, $SLOT_BYTES
  %offset = add i64 %scaled, $SLOT_START
  %slot = getelementptr i8, ptr %pool, i64 %offset
  %one = call i64 @visit(ptr %slot, ptr %box)
  %sum = add i64 %helped, %one
  %following = add i64 %index, 1
  %more = icmp ult i64 %following, $SLOTS
  br i1 %more, label %next, label %done
done:
  ret i64 %sum
}

; A worker's life: help, spin for a moment, sleep until the signal changes. With %once it returns
; instead of sleeping, for systems where Python does the waiting.
define void @cubepy_worker(ptr %pool, ptr %box, i64 %once) {
start:
  %signal.at = getelementptr i8, ptr %pool, i64 $SIGNAL
  %stop.at = getelementptr i8, ptr %pool, i64 $STOP
  %sleepers.at = getelementptr i8, ptr %pool, i64 $SLEEPERS
  br label %search
search:
  %signal = load atomic i32, ptr %signal.at seq_cst, align 4
  %stop = load atomic i32, ptr %stop.at seq_cst, align 4
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %finish, label %help
help:
  %helped = call i64 @round(ptr %pool, ptr %box)
  %idle = icmp eq i64 %helped, 0
  br i1 %idle, label %rest, label %search
rest:
  %returning = icmp ne i64 %once, 0
  br i1 %returning, label %done, label %patience
patience:
  %now = call i64 @now()
  %until = add i64 %now, $SPIN
  br label %spin
spin:
  %turn = phi i32 [ 0, %patience ], [ %turn.next, %wait ], [ 0, %check ]
  %seen = load atomic i32, ptr %signal.at seq_cst, align 4
  %changed = icmp ne i32 %seen, %signal
  br i1 %changed, label %search, label %wait
wait:
  call void @pause()
  %turn.next = add i32 %turn, 1
  %due = icmp uge i32 %turn.next, 32
  br i1 %due, label %check, label %spin
check:
  %time = call i64 @now()
  %over = icmp sgt i64 %time, %until
  br i1 %over, label %sleep, label %spin
sleep:
  atomicrmw add ptr %sleepers.at, i32 1 seq_cst
  call void @sleep_while(ptr %signal.at, i32 %signal, i64 -1)
  atomicrmw sub ptr %sleepers.at, i32 1 seq_cst
  br label %search
finish:
  %arena = load ptr, ptr %box
  call void @give_memory(ptr %arena)
  store ptr null, ptr %box
  br label %done
done:
  ret void
}

; Let workers into a slot, and wake as many as can be of use.
define void @cubepy_share(ptr %pool, ptr %slot, i64 %threads) {
  %threads.at = getelementptr i8, ptr %slot, i64 $THREADS
  store i64 %threads, ptr %threads.at
  %state.at = getelementptr i8, ptr %slot, i64 $STATE
  store atomic i32 1, ptr %state.at seq_cst, align 4
  %signal.at = getelementptr i8, ptr %pool, i64 $SIGNAL
  atomicrmw add ptr %signal.at, i32 1 seq_cst
  %sleepers.at = getelementptr i8, ptr %pool, i64 $SLEEPERS
  %sleepers = load atomic i32, ptr %sleepers.at seq_cst, align 4
  %some = icmp ne i32 %sleepers, 0
  br i1 %some, label %rouse, label %done
rouse:
  %others = sub i64 %threads, 1
  %count = trunc i64 %others to i32
  call void @wake(ptr %signal.at, i32 %count)
  br label %done
done:
  ret void
}

; Close a slot and wait until no worker is in it: 0, or 1 if one still is at the deadline.
define internal i64 @finish(ptr %slot, i64 %deadline) {
start:
  %state.at = getelementptr i8, ptr %slot, i64 $STATE
  %users.at = getelementptr i8, ptr %slot, i64 $USERS
  %waiting.at = getelementptr i8, ptr %slot, i64 $WAITING
  store atomic i32 0, ptr %state.at seq_cst, align 4
  br label %spin
spin:
  %turn = phi i32 [ 0, %start ], [ %turn.next, %wait ]
  %users = load atomic i32, ptr %users.at seq_cst, align 4
  %empty = icmp eq i32 %users, 0
  br i1 %empty, label %done, label %wait
wait:
  call void @pause()
  %turn.next = add i32 %turn, 1
  %patient = icmp ult i32 %turn.next, 1000
  br i1 %patient, label %spin, label %sleepy
sleepy:
  store atomic i32 1, ptr %waiting.at seq_cst, align 4
  br label %look
look:
  %inside = load atomic i32, ptr %users.at seq_cst, align 4
  %none = icmp eq i32 %inside, 0
  br i1 %none, label %woken, label %measure
measure:
  %now = call i64 @now()
  %left = sub i64 %deadline, %now
  %late = icmp sle i64 %left, 0
  br i1 %late, label %woken, label %sleep
sleep:
  call void @sleep_while(ptr %users.at, i32 %inside, i64 %left)
  br label %look
woken:
  %answer = phi i64 [ $DONE, %look ], [ $AGAIN, %measure ]
  store atomic i32 0, ptr %waiting.at seq_cst, align 4
  ret i64 %answer
done:
  ret i64 $DONE
}

; Go on with a launch for %budget nanoseconds.
define i64 @cubepy_resume(ptr %slot, ptr %arena, i64 %budget) {
  %now = call i64 @now()
  %deadline = add i64 %now, %budget
  %late = call i64 @participate(ptr %slot, ptr %arena, i64 %deadline)
  %over = icmp ne i64 %late, 0
  br i1 %over, label %again, label %close
again:
  ret i64 $AGAIN
close:
  %answer = call i64 @finish(ptr %slot, i64 %deadline)
  ret i64 %answer
}

; Whether %nanoseconds of work are worth sharing: more so while workers are awake.
define internal i1 @worth_sharing(ptr %pool, i64 %nanoseconds) {
  %sleepers.at = getelementptr i8, ptr %pool, i64 $SLEEPERS
  %ready.at = getelementptr i8, ptr %pool, i64 $READY
  %sleepers = load atomic i32, ptr %sleepers.at seq_cst, align 4
  %ready = load atomic i32, ptr %ready.at seq_cst, align 4
  %awake.a = icmp eq i32 %sleepers, 0
  %awake.b = icmp ne i32 %ready, 0
  %awake = and i1 %awake.a, %awake.b
  %price = select i1 %awake, i64 $PRICE_AWAKE, i64 $PRICE_ASLEEP
  %worth = icmp sge i64 %nanoseconds, %price
  ret i1 %worth
}

; Run a launch. Shares it at once if %hint, the expected nanoseconds of all of it, says that this
; pays; otherwise the first chunk is run and timed, and what is left is shared if that pays.
define i64 @cubepy_launch(ptr %pool, ptr %slot, ptr %entry, ptr %arguments, i64 %tasks, i64 %arena_bytes,
                          ptr %arena, i64 %threads, i64 %hint, i64 %budget) {
start:
  %counter.at = getelementptr i8, ptr %slot, i64 $COUNTER
  store atomic i64 0, ptr %counter.at monotonic, align 8
  %entry.at = getelementptr i8, ptr %slot, i64 $ENTRY
  store ptr %entry, ptr %entry.at
  %arguments.at = getelementptr i8, ptr %slot, i64 $ARGUMENTS
  store ptr %arguments, ptr %arguments.at
  %tasks.at = getelementptr i8, ptr %slot, i64 $TASKS
  store atomic i64 %tasks, ptr %tasks.at monotonic, align 8
  %bytes.at = getelementptr i8, ptr %slot, i64 $ARENA_BYTES
  store i64 %arena_bytes, ptr %bytes.at
  %threads.at = getelementptr i8, ptr %slot, i64 $THREADS
  store i64 %threads, ptr %threads.at
  %alone = icmp slt i64 %threads, 2
  br i1 %alone, label %go, label %ask
ask:
  %worth = call i1 @worth_sharing(ptr %pool, i64 %hint)
  br i1 %worth, label %share, label %measure
measure:
  %size = call i64 @first_size(i64 %tasks, i64 %threads)
  store atomic i64 %size, ptr %counter.at monotonic, align 8
  %before = call i64 @now()
  %floats = call i64 @enter_default_floats()
  call void %entry(ptr %arguments, i64 0, i64 %size, ptr %arena)
  call void @leave_default_floats(i64 %floats)
  %after = call i64 @now()
  %spent = sub i64 %after, %before
  %left = sub i64 %tasks, %size
  %times = udiv i64 %left, %size
  %expected = mul i64 %spent, %times
  %pays = call i1 @worth_sharing(ptr %pool, i64 %expected)
  br i1 %pays, label %share, label %go
share:
  %ready.at = getelementptr i8, ptr %pool, i64 $READY
  %ready = load atomic i32, ptr %ready.at seq_cst, align 4
  %workers = icmp ne i32 %ready, 0
  br i1 %workers, label %open, label %wanting
wanting:
  ret i64 $NEEDS_WORKERS
open:
  call void @cubepy_share(ptr %pool, ptr %slot, i64 %threads)
  br label %go
go:
  %answer = call i64 @cubepy_resume(ptr %slot, ptr %arena, i64 %budget)
  ret i64 %answer
}

; Let no further chunk of a launch begin; `cubepy_resume` then waits for those that have.
define void @cubepy_cancel(ptr %slot) {
  %tasks.at = getelementptr i8, ptr %slot, i64 $TASKS
  %tasks = load atomic i64, ptr %tasks.at monotonic, align 8
  %counter.at = getelementptr i8, ptr %slot, i64 $COUNTER
  store atomic i64 %tasks, ptr %counter.at seq_cst, align 8
  ret void
}

; Tell the workers to leave.
define void @cubepy_stop(ptr %pool) {
  %stop.at = getelementptr i8, ptr %pool, i64 $STOP
  store atomic i32 1, ptr %stop.at seq_cst, align 4
  %signal.at = getelementptr i8, ptr %pool, i64 $SIGNAL
  atomicrmw add ptr %signal.at, i32 1 seq_cst
  call void @wake(ptr %signal.at, i32 2147483647)
  ret void
}

; Run a single short task that needs no scratch memory, on the calling thread.
define void @cubepy_alone(ptr %entry, ptr %arguments) {
  %floats = call i64 @enter_default_floats()
  call void %entry(ptr %arguments, i64 0, i64 1, ptr null)
  call void @leave_default_floats(i64 %floats)
  ret void
}
