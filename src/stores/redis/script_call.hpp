// Commands as calls of scripts: which script, which keys, which arguments. Pure; docs/redis-keys.md has it in words.
#pragma once

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "baton/protocol.hpp"
#include "baton/store.hpp"
#include "stores/redis/scripts.hpp"
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

struct script_call {
    redis::script script{};
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

[[nodiscard]] script_call hello_call(std::string_view space, const space_terms& terms);
/// Made of the memory of an earlier call.
[[nodiscard]] script_call call_of(std::string_view space, lineage lineage, const protocol::command& command,
                                  script_call used = {});
[[nodiscard]] script_call watch_call(std::string_view space, lineage lineage, std::chrono::milliseconds length);

/// The sections of `inspect`, to be read one after the other, each from cursor "0" until it is "0" again.
enum class section : std::uint8_t { sessions, dying, marks, limits };
[[nodiscard]] script_call page_call(std::string_view space, lineage lineage, section section, std::string_view cursor,
                                    unsigned count);

/// Appends EVALSHA: the server has the script already.
void encode(std::string& out, const script_call& call, const script_table& table = all_scripts());

}  // namespace baton::redis
