// The program, except that it accepts `memory:`: most tests of `baton run` need no other client, and no agent.
#include "program.hpp"
#include "program/store_url.hpp"
#include "store_address.hpp"

int main(int argc, char** argv) {
    baton::cli::store_maker_used() = [](std::string_view address, baton::detail::local_options options) {
        return baton::detail::make_store(address, std::move(options));
    };
    return baton::cli::program(argc, argv);
}
