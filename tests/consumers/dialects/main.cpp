// Uses an address with a dialect: with the library of the dialects it prints the ttl, without it what is wrong.
#include <baton/baton.hpp>
#include <baton/store.hpp>
#ifdef WITH_DIALECTS
#include <baton/dialects.hpp>
#endif
#include <iostream>

int main() {
#ifdef WITH_DIALECTS
    baton::register_dialects();
#endif
    try {
        std::cout << baton::make_store("redis://host?dialect=redturn")->pace()->ttl.count() << '\n';
    } catch (const baton::error& refused) {
        std::cout << refused.what() << '\n';
        return refused.code() == baton::errc::unsupported ? 3 : 1;
    }
}
