/*
 * Taking a set, see RecordFormat.md: three writers under a lock, which store all values, and one of
 * which may be killed at any step, and a reader that tries at most three times. Checked by
 * GateModelTests, as it is, and with each of these mistakes:
 *
 * NOT_ODD     a writer does not make the sequence odd before it stores
 * NO_REPAIR   a writer adds 1 to a sequence that a killed one left odd
 * NO_LOCK     writers do not exclude each other
 * ONE_LOOK    a reader does not look at the sequence again
 * ODD_TOO     a reader takes at an odd sequence, too
 */
byte sequence;
byte cell[2];
bool locked;

inline may_be_killed() {
  if
  :: true
  :: is_mortal -> goto killed
  fi
}

proctype writer(byte set; bool is_mortal) {
  byte before;
#ifndef NO_LOCK
  atomic { !locked -> locked = true };
#endif
  before = sequence;
  may_be_killed();
#ifndef NOT_ODD
#ifdef NO_REPAIR
  before = before + 1;
#else
  if
  :: before % 2 == 0 -> before = before + 1
  :: else /* who made it odd was killed */
  fi;
#endif
  sequence = before;
  may_be_killed();
#endif
  cell[0] = set;
  may_be_killed();
  cell[1] = set;
  may_be_killed();
  sequence = before + 1;
killed:
  locked = false
}

proctype reader() {
  byte before, first, second, attempts, copies[2];
  do
  :: attempts < 3 ->
    attempts++;
    before = sequence;
    first = cell[0];
    second = cell[1];
    if
#ifdef ODD_TOO
    :: before == sequence ->
#else
#ifdef ONE_LOOK
    :: before % 2 == 0 ->
#else
    :: before % 2 == 0 && before == sequence ->
#endif
#endif
      copies[0] = first;
      copies[1] = second;
      break
    :: else
    fi
  :: attempts == 3 -> break /* the copy is what it was */
  od;
  assert(copies[0] == copies[1])
}

init {
  atomic {
    run writer(1, true);
    run writer(2, false);
    run writer(3, false);
    run reader()
  }
}
