// Counts this process's allocations. On Linux, it replaces malloc and related functions.
#pragma once

// Allocations since the process started; 0 if they can't be counted.
unsigned long callocations_count(void);

// Returns unused memory to the system, if the platform supports that.
void callocations_trim(void);

// Bytes that this process has allocated and not freed; 0 if they can't be counted.
unsigned long callocations_in_use(void);
