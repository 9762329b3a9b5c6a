// The program's entry.
#include "program.hpp"

int main(int argc, char** argv) { return baton::cli::program(argc, argv); }
