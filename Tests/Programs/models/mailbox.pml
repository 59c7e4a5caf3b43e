/*
 * The mailbox of a gate, see RecordFormat.md: two producers outside the process, of which one may be
 * killed at any step, one inside that takes back what it has sent and sends more, and two threads
 * that pass the gate. Checked by GateModelTests, as it is, and with each of these mistakes:
 *
 * COUNT_FIRST  a producer stores the count before the entries
 * NOT_EMPTY    a producer does not look whether the mailbox is empty
 * NO_LOCK      producers do not exclude each other
 * NOT_TAKEN    a thread stores without having exchanged the count for a taken one
 * FORCED       the producer inside takes back by a plain store
 */
#define STORES 2
#define TAKEN 8

byte state;           /* the number of stores that wait, and TAKEN */
byte entry[STORES];   /* the values that wait; a set has one value in all entries */
byte cell[STORES];
bool locked;
byte taken_back;      /* the set that must not be stored any more */

inline lock() {
#ifdef NO_LOCK
  skip
#else
  atomic { !locked -> locked = true }
#endif
}
inline unlock() { locked = false }

/* The kernel releases the lock of a process that is killed. */
inline may_be_killed() {
  if
  :: true
  :: is_mortal -> goto killed
  fi
}

inline send(set) {
  may_be_killed();
#ifdef COUNT_FIRST
  state = STORES;
  may_be_killed();
#endif
  entry[0] = set;
  may_be_killed();
  entry[1] = set;
  may_be_killed();
#ifndef COUNT_FIRST
  state = STORES;
#endif
  may_be_killed()
}

#ifdef NOT_EMPTY
#define IS_EMPTY true
#else
#define IS_EMPTY (state == 0)
#endif

proctype outside(byte first; bool is_mortal) {
  byte set = first;
  do
  :: set < first + 2 ->
    lock();
    if
    :: IS_EMPTY -> send(set)
    :: !IS_EMPTY /* refused, for people to see */
    fi;
    unlock();
    set++
  :: set == first + 2 -> break
  od;
  goto done;
killed:
  unlock();
done:
  skip
}

proctype inside() {
  bool is_mortal = false, has_back;
  lock();
  if
  :: IS_EMPTY ->
    send(5);
#ifdef FORCED
    state = 0;
    has_back = true;
    taken_back = 5;
#else
    atomic {
      has_back = (state == STORES);
      if
      :: has_back -> state = 0; taken_back = 5
      :: else
      fi
    }
#endif
    if
    :: has_back -> send(6)
    :: else
    fi
  :: !IS_EMPTY
  fi;
  unlock();
  goto done;
killed:
done:
  skip
}

proctype gate() {
  byte waiting, i;
  bool is_mine;
end:
  do
  :: state != 0 ->
    waiting = state;
    if
    :: waiting == 0 || waiting >= TAKEN /* passes on */
    :: else ->
#ifdef NOT_TAKEN
      is_mine = true;
#else
      atomic {
        is_mine = (state == waiting);
        if
        :: is_mine -> state = waiting + TAKEN
        :: else
        fi
      }
#endif
      if
      :: is_mine ->
        i = 0;
        do
        :: i < waiting ->
          cell[i] = entry[i];
          assert(cell[i] == 0 || cell[i] != taken_back);
          i++
        :: i == waiting -> break
        od;
        state = 0
      :: else
      fi
    fi
  od
}

/* Whatever happens, and whoever is killed: only the one that takes sees a part of a set. */
proctype reader() {
end:
  atomic { state < TAKEN && cell[0] != cell[1] -> assert(false) }
}

init {
  atomic {
    run outside(1, true);
    run outside(3, false);
    run inside();
    run gate();
    run gate();
    run reader()
  }
}
