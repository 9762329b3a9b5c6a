#include "adv_sem_test.hpp"
