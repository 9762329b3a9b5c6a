#include "wire_dice.hpp"

namespace baton::resp {

using namespace protocol;

std::uint64_t wire_dice::number() {
    switch (upto(3)) {
        case 0: return upto(3);
        case 1: return UINT64_MAX - upto(3);
        default: return upto(UINT64_MAX);
    }
}

std::string wire_dice::bytes(std::size_t most) {
    std::string text(upto(most), '\0');
    for (char& c : text) c = coin() ? "\r\n$*-a0"[upto(6)] : static_cast<char>(upto(255));
    return text;
}

claim wire_dice::a_claim() {
    const auto mode = static_cast<baton::claim_mode>(upto(2));
    if (mode != claim_mode::permits) return {bytes(20), mode, 0, 0};
    return {bytes(20), mode, small(), small()};
}

claim_slots wire_dice::slots() {
    return {bytes(10), some([this] { return small(); })};
}

live_request wire_dice::live() {
    return {number(), some([this] { return a_claim(); }), number(),
            number(), some([this] { return slots(); }),   perhaps(duration{signed_number()})};
}

command wire_dice::command(std::size_t kind) {
    switch (kind) {
        case 0:
            return open{session(), std::chrono::milliseconds{signed_number()},
                        bytes(30), number(),
                        number(),  some([this] { return live(); })};
        case 1:
            return enter{request(),
                         some([this] { return a_claim(); }),
                         {coin(), perhaps(duration{signed_number()}), perhaps(std::size_t{number()})}};
        case 2: return leave{request(), static_cast<release_kind>(upto(2))};
        case 3: return renew{session()};
        case 4: return list{session(), number()};
        case 5: return close{session(), static_cast<closing>(upto(1))};
        case 6: return tick{};
        case 7: return revoke{bytes(20), number(), bytes(40), coin()};
        case 8: return mend{bytes(20)};
        case 9: return resize{bytes(20), perhaps(small())};
        default: return pause{instant()};
    }
}

event wire_dice::event(std::size_t kind) {
    const protocol::instant at = instant();
    switch (kind) {
        case 0:
            return {at, granted{request(), number(), number(), some([this] { return slots(); }), some([this] {
                                    return abandoned_resource{bytes(10), mark()};
                                }),
                                perhaps(instant())}};
        case 1: return {at, queued{request(), number()}};
        case 2: {
            const auto reason = static_cast<refusal>(upto(static_cast<unsigned>(refusal::note_too_long)));
            return {at, refused{perhaps(request()), reason, perhaps(instant())}};
        }
        case 3: return {at, ended{request(), static_cast<end_reason>(upto(7)), number()}};
        case 4: return {at, session_lost{session()}};
        case 5: return {at, alive{session(), instant(), number(), number(), coin()}};
        case 6:
            return {at, listed{session(), number(), some([this] {
                                   return request_state{number(), number(), number(), perhaps(instant())};
                               }),
                               coin()}};
        case 7: return {at, closed{session()}};
        case 8: return {at, revoking{request(), bytes(40), instant()}};
        case 9: return {at, mended{bytes(20), mark()}};
        case 10: return {at, resized{bytes(20), perhaps(small())}};
        default: return {at, paused{instant()}};
    }
}

claim_view wire_dice::a_claim_view() {
    const auto mode = static_cast<baton::claim_mode>(upto(2));
    const bool counts = mode == claim_mode::permits;
    return {upto(1000), mode, counts ? small() : 0, counts ? small() : 0, coin(), some([this] { return small(); })};
}

snapshot wire_dice::inspect() {
    const auto little = [this] { return upto(INT64_MAX); };
    const auto time = [this] { return duration{signed_number()}; };
    const auto view = [this] { return a_claim_view(); };
    snapshot made;
    made.at = instant();
    made.paused_until = perhaps(instant());
    made.sessions = little();
    made.resources = some([&] {
        auto mark = [&] { return protocol::mark{bytes(9), little(), instant(), little()}; };
        return resource_view{bytes(20),        some(view),       some(view),       little(),
                             perhaps(small()), perhaps(small()), perhaps(small()), perhaps(mark())};
    });
    made.requests = some([&] {
        return request_view{little(),
                            little(),
                            little(),
                            bytes(10),
                            some([this] { return a_claim(); }),
                            time(),
                            time(),
                            little(),
                            some([&] {
                                return blocker{little(), bytes(9), coin()};
                            }),
                            little(),
                            perhaps(time()),
                            perhaps(time()),
                            bytes(9)};
    });
    made.circles = some([&] { return some([&] { return circle_step{little(), bytes(5), little()}; }); });
    return made;
}

}  // namespace baton::resp
