// Random commands and events, for round trips and as input for mutations.
#pragma once

#include <random>

#include "stores/resp/wire.hpp"

namespace baton::resp {

class wire_dice {
public:
    explicit wire_dice(std::uint64_t seed) : engine_{seed} {}

    /// A random number from 0 to `most`.
    std::uint64_t upto(std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>{0, most}(engine_); }
    bool coin() { return upto(1) == 1; }

    std::string bytes(std::size_t most);
    protocol::command command(std::size_t kind);
    protocol::event event(std::size_t kind);
    snapshot inspect();

private:
    std::uint64_t number();
    std::int64_t signed_number() { return static_cast<std::int64_t>(upto(UINT64_MAX)); }
    protocol::session_id session() { return {number(), number()}; }
    protocol::request_id request() { return {session(), number()}; }
    protocol::instant instant() { return protocol::instant{protocol::duration{signed_number()}}; }
    protocol::mark mark() { return {bytes(20), number(), instant(), number()}; }
    std::uint32_t small() { return static_cast<std::uint32_t>(upto(UINT32_MAX)); }
    template <typename Item> std::optional<Item> perhaps(Item item) {
        return coin() ? std::optional{std::move(item)} : std::nullopt;
    }
    template <typename Make> auto some(Make make) {
        std::vector<decltype(make())> list;
        for (std::uint64_t left = upto(3); left > 0; --left) list.push_back(make());
        return list;
    }
    claim a_claim();
    claim_view a_claim_view();
    protocol::claim_slots slots();
    protocol::live_request live();

    std::mt19937_64 engine_;
};

}  // namespace baton::resp
