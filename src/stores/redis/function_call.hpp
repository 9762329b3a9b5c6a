// Commands as calls of functions: which verb, which keys, which arguments. Pure; docs/redis-keys.md has it in words.
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

/// Strings in the form in which they are sent.
class word_list {
public:
    word_list() = default;
    word_list(std::initializer_list<std::string_view> words) {
        for (const std::string_view word : words) add(word);
    }
    word_list(const std::vector<std::string>& words) {  // NOLINT(google-explicit-constructor): it is the same
        for (const std::string& word : words) add(word);
    }

    void add(std::string_view word) { add({word}); }
    /// One word that is made of several parts.
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

/// Where the keys of a space begin; the braces keep them in one hash slot of a cluster.
[[nodiscard]] std::string prefix_of(std::string_view space);

/// A session's id as it stands in keys and channels: 16 bytes.
[[nodiscard]] std::string to_bytes(const protocol::session_id& id);

/// The channel that a session's notices come by, and the one that tells viewers everything.
[[nodiscard]] std::string wake_channel(std::string_view space, const protocol::session_id& id);
[[nodiscard]] std::string events_channel(std::string_view space);

/// What a space is made with. Its first client decides, all others have to say the same.
struct space_terms {
    std::chrono::milliseconds max_ttl{15'000};
    std::chrono::milliseconds lag{2'000};
    bool pause_after_loss = true;
};

/// What a client knows of the space's history when it connects: without it, a server that has lost it looks like a new
/// one.
struct known_history {
    baton::epoch epoch = 0;        // 0: it was never there
    protocol::serial highest = 0;  // ticket or fence
};

[[nodiscard]] function_call hello_call(std::string_view space, const space_terms& terms,
                                       const known_history& known = {});
/// Made of the memory of an earlier call.
[[nodiscard]] function_call call_of(std::string_view space, epoch epoch, const protocol::command& command,
                                    function_call used = {});
/// A renewal that asks how far from the front these waiting requests are, up to `waiting_requests::most_places`.
[[nodiscard]] function_call renew_call(std::string_view space, epoch epoch, const protocol::renew& command,
                                       std::span<const std::uint64_t> waiting, function_call used = {});
[[nodiscard]] function_call watch_call(std::string_view space, epoch epoch, std::chrono::milliseconds length);

/// A page of `inspect`, from cursor "0" until the reply's cursor is "0" again; about so many claims at once.
struct page_size {
    unsigned claims;
};
/// Of the whole space, or of the names that begin with `prefix`.
[[nodiscard]] function_call space_page_call(std::string_view space, epoch epoch, std::string_view prefix,
                                            std::string_view cursor, page_size size);
[[nodiscard]] function_call name_page_call(std::string_view space, epoch epoch, std::string_view name,
                                           std::string_view cursor, page_size size);

/// What a waiting line shows: the requests of the session with these numbers, as far as they wait, and who holds up
/// each.
[[nodiscard]] function_call wait_page_call(std::string_view space, epoch epoch, const protocol::session_id& session,
                                           std::span<const std::uint64_t> waiting, page_size holders);

/// Appends FCALL, or FCALL_RO where the verb writes nothing: the server has the library already.
void encode(std::string& out, const function_call& call, const function_library& library = server_library());

}  // namespace baton::redis
