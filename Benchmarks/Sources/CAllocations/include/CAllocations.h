// Counts the allocations of this process, by standing in for malloc and its kin on Linux.
#pragma once

// Allocations since the process began; 0 where they can't be counted.
unsigned long callocations_count(void);
