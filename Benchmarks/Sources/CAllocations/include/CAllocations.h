// Counts the allocations of this process, by standing in for malloc and its kin on Linux.
#pragma once

// Allocations since the process began; 0 where they can't be counted.
unsigned long callocations_count(void);

// Gives the system back what memory isn't used any more, where that can be asked for.
void callocations_trim(void);
