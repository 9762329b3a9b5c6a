// The queue of red-turn and redturn.ts: a list under the name of the resource, whose first element is the holder. An
// element is ID:CHANNEL:TIMEOUT. A client that becomes first gets a notice on its channel, and waiters remove a first
// element whose timeout has passed. Our holder renews by changing its id, so that the timers of other clients do not
// apply to it; our waiter confirms a notice in the same way before it counts as the holder. docs/dialects.md.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "baton/error.hpp"
#include "dialect.hpp"
#include "hex.hpp"
#include "listing.hpp"
#include "option_reader.hpp"
#include "scripts.hpp"
#include "stores/redis/url_text.hpp"

namespace baton::dialects {
namespace {

using namespace std::chrono_literals;

struct redturn_options {
    std::chrono::milliseconds timeout{10'000};
    std::chrono::milliseconds refresh_interval{3'333};
    std::string notices = "new";
};

/// ID:CHANNEL:TIMEOUT; id and channel have no colon.
struct element {
    std::string id;
    std::string channel;
    std::chrono::milliseconds timeout{0};

    [[nodiscard]] static std::optional<element> read(std::string_view text) {
        const std::size_t first = text.find(':');
        const std::size_t second = text.find(':', first == std::string_view::npos ? first : first + 1);
        if (second == std::string_view::npos || text.find(':', second + 1) != std::string_view::npos) return {};
        std::string_view time = text.substr(second + 1);
        time = time.substr(0, time.find('.'));  // the originals ignore a fraction
        const auto timeout = detail::number_in<std::int64_t>(time, 0, 1'000'000'000'000);
        if (!timeout || first == 0) return {};
        return element{std::string{text.substr(0, first)}, std::string{text.substr(first + 1, second - first - 1)},
                       std::chrono::milliseconds{*timeout}};
    }
    [[nodiscard]] std::string text() const { return id + ":" + channel + ":" + std::to_string(timeout.count()); }
    [[nodiscard]] std::string label() const { return id + " of " + channel; }
};

/// What the entries of one connection share: the channel, and which ids are in use.
struct redturn_queue {
    redturn_options options;
    std::string channel;  // 32 hex digits
    std::uint64_t last = 0;
    std::set<std::string> ids;

    [[nodiscard]] element next_element() {
        element made{channel + "." + std::to_string(++last), channel, options.timeout};
        ids.insert(made.id);
        return made;
    }
    [[nodiscard]] bool is_ours(std::string_view id) const { return id.starts_with(channel + "."); }
};

class redturn_entry final : public queue_entry {
public:
    redturn_entry(context& context, redturn_queue& queue, std::string name)
        : context_{context}, queue_{queue}, name_{std::move(name)}, first_{queue.next_element()}, candidates_{first_} {}
    redturn_entry(const redturn_entry&) = delete;
    redturn_entry& operator=(const redturn_entry&) = delete;
    ~redturn_entry() override {
        queue_.ids.erase(first_.id);
        for (const element& each : candidates_) queue_.ids.erase(each.id);
    }

    void poll(callback done) override {
        for (const element& each : candidates_) context_.subscribe(each.id, *this);
        adds_ == 0 ? add(std::move(done)) : find(std::move(done));
    }

    void renew(callback done) override {
        const element next = queue_.next_element();
        redis_command command = refresh_to(next);
        context_.execute({std::move(command), {"TIME"}}, [this, next, done = std::move(done)](const replies& replies) {
            if (const auto* error = error_in(replies)) return not_renewed(next, *error, done);
            if (!refreshed(next, replies[0])) return done({.status = claim_status::gone});
            done({.status = claim_status::held, .at = time_in(replies[1])});
        });
    }

    /// Commands that were sent before run before this; `left_` prevents later ones.
    void leave(std::function<void()> done) override {
        left_ = true;
        redis_command command = call(redturn_scripts::withdraw, {name_}, {queue_.options.notices});
        for (const element& each : candidates_) command.push_back(each.text());
        // An element that was sent twice may be in the list twice.
        if (adds_ > 1 && candidates_.front().id != first_.id) command.push_back(first_.text());
        context_.execute({std::move(command)}, [done = std::move(done)](const replies&) { done(); });
    }

    /// A notice may be lost, and the first element may be of a dead client. Its timeout begins here when a poll finds
    /// it, so the interval is a small part of the timeout: a dead element is removed at most one interval late.
    [[nodiscard]] protocol::duration poll_delay() const override {
        protocol::duration next = std::min<protocol::duration>(1s, queue_.options.refresh_interval);
        const auto head = element::read(head_);
        if (!head) return next;
        next = std::min<protocol::duration>(next, std::max(head->timeout / 8, 10ms));
        return std::clamp(head_since_ + head->timeout - context_.now(), protocol::duration{0}, next);
    }

    [[nodiscard]] std::vector<std::string> names() const override {
        std::vector<std::string> all;
        for (const element& each : candidates_) all.push_back(each.label());
        return all;
    }

private:
    void add(callback done) {
        // A refreshed entry has given up its first id: a notice for that id would be handled as a stranger's.
        if (adds_ > 0 && std::ranges::find(candidates_, first_.id, &element::id) == candidates_.end()) {
            first_ = queue_.next_element();
            candidates_.push_back(first_);
            context_.subscribe(first_.id, *this);
        }
        ++adds_;
        context_.execute(
            {call(redturn_scripts::add, {name_}, {queue_.channel, first_.text(), first_.id, queue_.options.notices}),
             {"TIME"}},
            [this, done = std::move(done)](const replies& replies) {
                if (const auto* error = error_in(replies)) return done(failure_of(*error));
                if (replies[0].text == first_.text())
                    return done({.status = claim_status::held, .at = time_in(replies[1])});
                update_head(replies[0].text);
                done({.status = claim_status::waiting});
            });
    }

    /// Finds the entry in the queue. If it is first, this also refreshes it. Before that, removes a first element whose
    /// timeout has passed.
    void find(callback done) {
        const auto due = head_due();
        const std::string overdue = due && *due <= context_.now() ? head_ : std::string{};
        std::vector<redis_command> commands;
        if (const auto dead = element::read(overdue))
            commands.push_back(
                call(redturn_scripts::remove, {name_}, {dead->id, dead->channel, queue_.options.notices}));
        const element next = queue_.next_element();
        commands.push_back(refresh_to(next));
        commands.push_back({"TIME"});
        context_.execute(std::move(commands), [this, overdue, next, done = std::move(done)](const replies& replies) {
            const resp::value& found = replies[replies.size() - 2];
            const bool first = refreshed(next, found);
            if (const auto* error = error_in(replies)) return done(failure_of(*error));
            if (first) {
                claim_result held{.status = claim_status::held, .at = time_in(replies.back())};
                if (!overdue.empty() && is_true(replies[0])) held.abandoned = {mark_of(overdue)};
                return done(held);
            }
            // It is not in the list: another client removed it as dead, or it was never added.
            if (!left_ && !is_true(found)) return add(done);
            done({.status = claim_status::waiting});
        });
    }

    /// Scripts reply with the first element, and 1 or 0.
    [[nodiscard]] static bool is_true(const resp::value& reply) {
        return reply.items.size() == 2 && reply.items[1].number == 1;
    }

    /// Replaces the first element by `next` if it is one of the candidates. From now on `next` is a candidate.
    [[nodiscard]] redis_command refresh_to(const element& next) {
        redis_command command = call(redturn_scripts::refresh, {name_}, {next.text()});
        for (const element& each : candidates_) command.push_back(each.text());
        candidates_.push_back(next);
        return command;
    }

    /// Evaluates the reply to `refresh_to`: true if `next` is the first element.
    bool refreshed(const element& next, const resp::value& found) {
        const std::string head = found.items.empty() ? std::string{} : found.items[0].text;
        const auto at = std::ranges::find(candidates_, next.id, &element::id);
        if (at == candidates_.end()) return false;
        if (head == next.text()) {
            forget(candidates_.begin(), at);  // it replaced one of these, and the others are not in the list
            return true;
        }
        forget(at, at + 1);
        update_head(head);
        return false;
    }
    void forget(std::vector<element>::iterator from, std::vector<element>::iterator to) {
        for (auto each = from; each != to; ++each) queue_.ids.erase(each->id);
        candidates_.erase(from, to);
    }

    /// If the key holds other data now, this lease is gone, and the renewal of other leases goes on.
    void not_renewed(const element& next, const resp::value& error, const callback& done) {
        if (const claim_result why = failure_of(error); why.error != errc::foreign_data) return done(why);
        refreshed(next, {});
        done({.status = claim_status::gone});
    }

    void update_head(const std::string& head) {
        if (head == head_) return;
        head_ = head;
        head_since_ = context_.now();
    }
    [[nodiscard]] std::optional<protocol::instant> head_due() const {
        const auto head = element::read(head_);
        if (!head) return {};
        return head_since_ + head->timeout;
    }
    [[nodiscard]] protocol::mark mark_of(const std::string& dead) const {
        return {element::read(dead)->label(), 0, protocol::instant{context_.server_now().time_since_epoch()}, 1};
    }

    context& context_;
    redturn_queue& queue_;
    const std::string name_;
    element first_;                    // the element that `add` adds
    std::vector<element> candidates_;  // the elements that may be in the list, oldest first
    std::size_t adds_ = 0;
    bool left_ = false;
    std::string head_;  // the last known first element of another client
    protocol::instant head_since_;
};

class redturn_client final : public dialect::protocol_client {
public:
    redturn_client(context& context, const redturn_options& options)
        : context_{context}, queue_{options, hex(context.random_bytes()), 0, {}} {}

    [[nodiscard]] std::vector<redis_command> first_commands() override { return {{"SUBSCRIBE", queue_.channel}}; }

    [[nodiscard]] std::unique_ptr<queue_entry> make_entry(const claim& claim, const protocol::enter_options&) override {
        return std::make_unique<redturn_entry>(context_, queue_, claim.resource);
    }

    /// A notice is `id:resource` or `resource:id`. If none of our entries has the id any more, removes that element,
    /// which would block the queue.
    [[nodiscard]] std::string handle_push(const resp::value& message) override {
        if (message.items.size() != 3 || message.items[0].text != "message") return {};
        const std::string& text = message.items[2].text;
        const std::size_t first = text.find(':');
        const std::size_t last = text.rfind(':');
        if (first == std::string::npos) return {};
        std::string id = text.substr(0, first);
        std::string resource = text.substr(first + 1);
        if (!queue_.is_ours(id)) {
            id = text.substr(last + 1);
            resource = text.substr(0, last);
        }
        if (!queue_.is_ours(id) || queue_.ids.contains(id)) return id;
        context_.execute({call(redturn_scripts::remove, {resource}, {id, queue_.channel, queue_.options.notices})},
                         [](const replies&) {});
        return {};
    }

    /// The keys have no prefix: a list whose elements all have the right form is a queue.
    void list(const inspect_filter& filter, list_callback done) override {
        if (filter.how == inspect_filter::match::exact) return list_names({filter.name}, done);
        redis_command pattern{"TYPE", "list"};
        if (filter.how == inspect_filter::match::prefix)
            pattern.insert(pattern.end(), {"MATCH", literal(filter.name) + "*"});
        scan(context_, pattern,
             [this, done = std::move(done)](std::error_code error, const std::vector<std::string>& names) {
                 if (error) return done(error, {});
                 list_names(names, done);
             });
    }

private:
    void list_names(const std::vector<std::string>& names, const list_callback& done) {
        if (names.empty()) return done({}, {});
        std::vector<redis_command> commands;
        for (const std::string& name : names) commands.push_back(call(redturn_scripts::elements, {name}, {}));
        context_.execute(std::move(commands), [names, done](const replies& replies) {
            listing found;
            for (std::size_t i = 0; i < names.size(); ++i) {
                const auto& elements = replies[i].items;
                if (!std::ranges::all_of(elements,
                                         [](const auto& each) { return element::read(each.text).has_value(); }))
                    continue;
                for (std::size_t position = 0; position < elements.size(); ++position) {
                    const auto each = element::read(elements[position].text);
                    found.requests.push_back({names[i], each->label(), position == 0});
                }
            }
            done({}, std::move(found));
        });
    }

    context& context_;
    redturn_queue queue_;
};

class redturn final : public dialect {
public:
    explicit redturn(redturn_options options) : options_{std::move(options)} {}

    [[nodiscard]] lease_pace pace() const override { return {options_.timeout, options_.refresh_interval}; }
    [[nodiscard]] std::string objection(std::span<const claim> claims,
                                        const protocol::enter_options& options) const override {
        return one_exclusive_name("redturn", claims, options);
    }
    [[nodiscard]] std::span<const redis::script_text> scripts() const override { return redturn_scripts::all; }
    [[nodiscard]] std::unique_ptr<protocol_client> make_protocol_client(context& context) const override {
        return std::make_unique<redturn_client>(context, options_);
    }

private:
    const redturn_options options_;
};

}  // namespace

std::shared_ptr<const dialect> make_redturn(const options& given) {
    option_reader read{"redturn", given};
    redturn_options options;
    options.timeout = read.time("timeout", options.timeout, 100ms, 24h);
    options.refresh_interval = read.time("refresh_interval", options.timeout / 3, 10ms, options.timeout / 2);
    options.notices = read.choice("notices", {"new", "old"}, 0) == 0 ? "new" : "old";
    read.finish();
    return std::make_shared<redturn>(std::move(options));
}

}  // namespace baton::dialects
