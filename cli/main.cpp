// The program's entry.
#include "program.hpp"
#ifdef BATON_DIALECTS
#include "baton/dialects.hpp"
#endif

int main(int argc, char** argv) {
#ifdef BATON_DIALECTS
    baton::register_dialects();
#endif
    return baton::cli::program(argc, argv);
}
