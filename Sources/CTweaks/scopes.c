#include "ctweaks.h"

int fbtweak__open_scopes;
