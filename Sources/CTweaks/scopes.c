#include "ctweaks.h"

int fbtweak__open_scopes;

static _Thread_local int calls;

void fbtweak__count_calls(int difference) {
  calls += difference;
}
bool fbtweak__is_in_call(void) {
  return calls != 0;
}
