// Encodes commands as calls of the functions in the server: verb, keys and arguments (docs/redis-keys.md). No I/O.
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/protocol.hpp"
#include "baton/store.hpp"
#include "stores/redis/function_library.hpp"
#include "stores/resp/codec.hpp"

namespace baton::redis {

/// A list of strings, encoded.
class word_list {
public:
    word_list() = default;
    word_list(std::initializer_list<std::string_view> words) {
        for (const std::string_view word : words) add(word);
    }
    word_list(const std::vector<std::string>& words) {  // NOLINT(google-explicit-constructor)
        for (const std::string& word : words) add(word);
    }

    void add(std::string_view word) { add({word}); }
    /// Concatenates the parts to one string.
    void add(std::initializer_list<std::string_view> parts) {
        resp::writer{bytes_}.bulk(parts);
        ++size_;
    }
    template <std::integral Number> void add(Number number) {
        std::array<char, 24> digits;
        add(std::string_view{digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr});
    }
    void clear() {
        bytes_.clear();
        size_ = 0;
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }
    friend bool operator==(const word_list&, const word_list&) = default;

private:
    std::string bytes_;
    std::size_t size_ = 0;
};

struct function_call {
    redis::verb verb{};
    word_list keys;
    word_list arguments;
};

/// The space that a call is for. In a cluster the call declares a second key, which does not exist: a server that moves
/// the slot to another node then refuses the call before it runs, and the function knows that channels are sharded.
struct called_space {
    called_space(std::string_view space, bool is_in_cluster = false)  // NOLINT(google-explicit-constructor)
        : name{space}, in_cluster{is_in_cluster} {}
    called_space(const std::string& space) : name{space} {}  // NOLINT(google-explicit-constructor)
    called_space(const char* space) : name{space} {}         // NOLINT(google-explicit-constructor)

    std::string_view name;
    bool in_cluster = false;
};

/// The prefix of the keys of a space. Its braces keep them in one hash slot of a cluster.
[[nodiscard]] std::string prefix_of(std::string_view space);

/// The 16 bytes of a session id in keys and channels.
[[nodiscard]] std::string to_bytes(const protocol::session_id& id);

/// The channel of a session's notices, and the channel of all events, for viewers.
[[nodiscard]] std::string wake_channel(std::string_view space, const protocol::session_id& id);
[[nodiscard]] std::string events_channel(std::string_view space);

/// The options of a space. Its first client sets them, and all others must have the same.
struct space_terms {
    std::chrono::milliseconds max_ttl{15'000};
    std::chrono::milliseconds lag{2'000};
    bool pause_after_loss = true;
};

/// What a client knows of the space when it connects, so that the server can detect a loss of its state.
struct known_history {
    baton::epoch epoch = 0;        // 0: the client was never connected
    protocol::serial highest = 0;  // the highest ticket or fence
};

[[nodiscard]] function_call hello_call(called_space space, const space_terms& terms, const known_history& known = {},
                                       std::string_view attested = {});
/// For the former primary of a planned failover. Its reply is an argument of `hello_call` for the new one.
[[nodiscard]] function_call attest_call(std::string_view epoch, std::string_view run_id);
/// In place of `hello` for a user that may only inspect: it changes nothing.
[[nodiscard]] function_call look_call(called_space space);
/// Reuses the memory of the call `used`.
[[nodiscard]] function_call call_of(called_space space, epoch epoch, const protocol::command& command,
                                    function_call used = {});
/// A renewal that also requests the queue positions of these waiting requests, at most `waiting_requests::most_places`.
[[nodiscard]] function_call renew_call(called_space space, epoch epoch, const protocol::renew& command,
                                       std::span<const std::uint64_t> waiting, function_call used = {});

/// `inspect` reads pages of about this size. The first cursor is "0", and the last page has the cursor "0".
struct page_size {
    unsigned claims;
};
/// A page of the whole space, or of the names that begin with `prefix`.
[[nodiscard]] function_call space_page_call(called_space space, epoch epoch, std::string_view prefix,
                                            std::string_view cursor, page_size size);
[[nodiscard]] function_call name_page_call(called_space space, epoch epoch, std::string_view name,
                                           std::string_view cursor, page_size size);

/// A page for the status line: the requests of the session with these numbers that wait, and the holders that each
/// waits for.
[[nodiscard]] function_call wait_page_call(called_space space, epoch epoch, const protocol::session_id& session,
                                           std::span<const std::uint64_t> waiting, page_size holders);

[[nodiscard]] bool only_reads(verb verb);

/// Appends FCALL, or FCALL_RO for verbs that only read. The server must have the library.
void encode(std::string& out, const function_call& call, const function_library& library = server_library());

}  // namespace baton::redis
