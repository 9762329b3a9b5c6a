// A protocol of others on Redis, as a store needs it: what it can express, its scripts, its queue entries, its notices,
// and what can be listed. How to add another: docs/dialects.md, at its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/inspect.hpp"
#include "baton/store.hpp"
#include "queue_entry.hpp"
#include "stores/redis/script_text.hpp"

namespace baton::dialects {

/// One that holds or waits, as the server shows it.
struct listed {
    std::string resource;
    std::string who;  // the protocol's own name for it
    bool held = false;
    std::optional<baton::claim> claim = std::nullopt;  // of one of ours
};
/// In the order of their queue entries; and the limits of those names that have one.
struct listing {
    std::vector<listed> requests;
    std::vector<std::pair<std::string, std::uint32_t>> limits;
};
using list_answer = std::function<void(std::error_code, listing)>;

class dialect {
public:
    virtual ~dialect() = default;

    [[nodiscard]] virtual lease_pace pace() const = 0;
    /// As that of `store`.
    [[nodiscard]] virtual std::string objection(std::span<const claim> claims,
                                                const protocol::enter_options& options) const = 0;
    [[nodiscard]] virtual std::span<const redis::script_text> scripts() const = 0;

    /// One a line.
    class speaker {
    public:
        virtual ~speaker() = default;
        /// What is to be said on every new connection before anything else.
        [[nodiscard]] virtual std::vector<words> first_words() { return {}; }
        [[nodiscard]] virtual std::unique_ptr<queue_entry> make_entry(const claim& claim,
                                                                      const protocol::enter_options& options) = 0;
        /// A message that came by itself: the name that whoever it concerns listens to, if anybody does.
        [[nodiscard]] virtual std::string heard(const resp::value& message) {
            static_cast<void>(message);
            return {};
        }
        virtual void list(const inspect_filter& filter, list_answer done) = 0;
    };
    [[nodiscard]] virtual std::unique_ptr<speaker> make_speaker(talk& talk) const = 0;
};

using options = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] std::shared_ptr<const dialect> make_amphp(const options& options);
[[nodiscard]] std::shared_ptr<const dialect> make_redturn(const options& options);
[[nodiscard]] std::shared_ptr<const dialect> make_adv_sem(const options& options);

/// The objection of those that lock one name for one owner.
[[nodiscard]] std::string one_exclusive_name(const std::string& dialect, std::span<const claim> claims,
                                             const protocol::enter_options& options);

/// Throws `error` with bad_url.
[[nodiscard]] std::shared_ptr<const dialect> make_dialect(const std::string& name, const options& options);

}  // namespace baton::dialects
