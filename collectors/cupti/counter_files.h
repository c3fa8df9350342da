#pragma once
// The format lies in include/, because the launcher reads and answers these files as well (arrows point
// inward).
#include "attnscope/counter_files.h"
