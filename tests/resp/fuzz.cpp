// Malformed bytes: random ones, and messages with bytes changed, cut, doubled and joined. However the bytes are split,
// the decoder must not crash, hang or exceed its memory bounds, and every decoded message can be encoded again.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "wire_dice.hpp"

namespace {

using namespace baton;
using namespace baton::resp;

std::string utterance(wire_dice& dice) {
    std::string out;
    switch (dice.upto(3)) {
        case 0: encode(out, dice.command(dice.upto(9))); break;
        case 1: encode_reply(out, 1, {dice.event(dice.upto(10))}); break;
        case 2: encode_notice(out, 1, dice.event(dice.upto(10))); break;
        default: encode(out, dice.inspect());
    }
    return out;
}

void mutate(wire_dice& dice, std::string& bytes) {
    if (bytes.empty()) return;
    const std::size_t at = dice.upto(bytes.size() - 1);
    switch (dice.upto(4)) {
        case 0: bytes[at] = static_cast<char>(dice.upto(255)); break;
        case 1: bytes.erase(at, dice.upto(8)); break;
        case 2: bytes.insert(at, bytes, at / 2, dice.upto(16)); break;
        case 3: bytes.insert(at, dice.bytes(8)); break;
        default: bytes[at] = "0123456789-$*%>:_#\r\n"[dice.upto(19)];
    }
}

void interpret(const value& heard) {
    if (const decoded_request request = decode_request(heard); request.request)
        if (const auto* command = std::get_if<protocol::command>(&*request.request)) {
            std::string once;
            encode(once, *command);
            decoder decoder;
            decoder.feed(once);
            const auto again = decoder.next();
            if (!again || !decode_request(*again).request) {
                std::fputs("a command that was understood cannot be said again\n", stderr);
                std::abort();
            }
        }
    static_cast<void>(decode_reply(heard));
    static_cast<void>(decode_notice(heard));
    static_cast<void>(decode_hello_reply(heard));
    static_cast<void>(decode_snapshot(heard));
}

/// The same bytes must decode to the same messages, whole and in pieces.
std::size_t listen(wire_dice& dice, const std::string& bytes, std::size_t most_at_once) {
    decoder decoder{{.bulk = 4096, .values = 2000, .message = 8192}};
    std::size_t heard = 0;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t piece = 1 + dice.upto(most_at_once - 1);
        decoder.feed(std::string_view{bytes}.substr(at, piece));
        at += piece;
        while (const auto made = decoder.next()) {
            ++heard;
            interpret(*made);
        }
    }
    return heard;
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t rounds = 20'000;
    std::uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        if (option == "--rounds") rounds = std::strtoull(argv[i + 1], nullptr, 10);
        if (option == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
    }
    std::uint64_t understood = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        wire_dice dice{seed + round};
        std::string bytes = dice.upto(9) == 0 ? dice.bytes(200) : utterance(dice);
        if (dice.coin()) bytes += utterance(dice);
        for (std::uint64_t changes = dice.upto(4); changes > 0; --changes) mutate(dice, bytes);
        const std::size_t whole = listen(dice, bytes, bytes.size() + 1);
        if (listen(dice, bytes, 1 + dice.upto(20)) != whole) {
            std::fprintf(stderr, "seed %llu: cut up, it means something else\n",
                         static_cast<unsigned long long>(seed + round));
            return 1;
        }
        understood += whole;
    }
    std::printf("%llu rounds, %llu messages understood\n", static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(understood));
    return understood == 0 ? 1 : 0;  // the test decoded no message at all
}
