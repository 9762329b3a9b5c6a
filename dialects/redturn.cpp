// The queue of red-turn and redturn.ts: a list under the resource's own name, whose first element has it. An element is
// ID:CHANNEL:TIMEOUT; whoever becomes first is told so on its channel, and whoever waits removes a first element whose
// time is over. A holder of ours renews by changing its id, which makes the timers of all others pointless: so every
// notice is confirmed in that way before anybody believes it. docs/dialects.md.
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

/// ID:CHANNEL:TIMEOUT, where neither id nor channel has a colon.
struct element {
    std::string id;
    std::string channel;
    std::chrono::milliseconds timeout{0};

    [[nodiscard]] static std::optional<element> read(std::string_view text) {
        const std::size_t first = text.find(':');
        const std::size_t second = text.find(':', first == std::string_view::npos ? first : first + 1);
        if (second == std::string_view::npos || text.find(':', second + 1) != std::string_view::npos) return {};
        std::string_view time = text.substr(second + 1);
        time = time.substr(0, time.find('.'));  // where numbers are not whole, the originals pass over the rest
        const auto timeout = detail::number_in<std::int64_t>(time, 0, 1'000'000'000'000);
        if (!timeout || first == 0) return {};
        return element{std::string{text.substr(0, first)}, std::string{text.substr(first + 1, second - first - 1)},
                       std::chrono::milliseconds{*timeout}};
    }
    [[nodiscard]] std::string text() const { return id + ":" + channel + ":" + std::to_string(timeout.count()); }
    [[nodiscard]] std::string label() const { return id + " of " + channel; }
};

/// What the queue entries of one queue share: the channel, and which ids are in use.
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
    redturn_entry(talk& talk, redturn_queue& queue, std::string name)
        : talk_{talk}, queue_{queue}, name_{std::move(name)}, first_{queue.next_element()}, perhaps_{first_} {}
    redturn_entry(const redturn_entry&) = delete;
    redturn_entry& operator=(const redturn_entry&) = delete;
    ~redturn_entry() override {
        queue_.ids.erase(first_.id);
        for (const element& each : perhaps_) queue_.ids.erase(each.id);
    }

    void poll(heard done) override {
        for (const element& each : perhaps_) talk_.listen(each.id, *this);
        adds_ == 0 ? add(std::move(done)) : find(std::move(done));
    }

    void renew(heard done) override {
        const element next = queue_.next_element();
        words said = refresh_to(next);
        talk_.ask({std::move(said), {"TIME"}}, [this, next, done = std::move(done)](const answers& answers) {
            if (const auto* error = error_in(answers)) return not_renewed(next, *error, done);
            if (!learn(next, answers[0])) return done({.status = claim_status::gone});
            done({.status = claim_status::held, .at = time_in(answers[1])});
        });
    }

    /// What is under way goes on in the server before this, and is not followed by anything more.
    void leave(std::function<void()> done) override {
        left_ = true;
        words said = call(redturn_scripts::withdraw, {name_}, {queue_.options.notices});
        for (const element& each : perhaps_) said.push_back(each.text());
        // One that was sent twice may have arrived twice.
        if (adds_ > 1 && perhaps_.front().id != first_.id) said.push_back(first_.text());
        talk_.ask({std::move(said)}, [done = std::move(done)](const answers&) { done(); });
    }

    /// A notice may be lost; and the first may be dead. The time of a first element begins here when a look finds it,
    /// so looks are a small part of that time apart: it is removed that much later than it could be.
    [[nodiscard]] protocol::duration poll_delay() const override {
        protocol::duration next = std::min<protocol::duration>(1s, queue_.options.refresh_interval);
        const auto head = element::read(head_);
        if (!head) return next;
        next = std::min<protocol::duration>(next, std::max(head->timeout / 8, 10ms));
        return std::clamp(head_since_ + head->timeout - talk_.now(), protocol::duration{0}, next);
    }

    [[nodiscard]] std::vector<std::string> names() const override {
        std::vector<std::string> all;
        for (const element& each : perhaps_) all.push_back(each.label());
        return all;
    }

private:
    void add(heard done) {
        // One that was refreshed is not known under its first id any more: what comes for that is not for us.
        if (adds_ > 0 && std::ranges::find(perhaps_, first_.id, &element::id) == perhaps_.end()) {
            first_ = queue_.next_element();
            perhaps_.push_back(first_);
            talk_.listen(first_.id, *this);
        }
        ++adds_;
        talk_.ask(
            {call(redturn_scripts::add, {name_}, {queue_.channel, first_.text(), first_.id, queue_.options.notices}),
             {"TIME"}},
            [this, done = std::move(done)](const answers& answers) {
                if (const auto* error = error_in(answers)) return done(failure_of(*error));
                if (answers[0].text == first_.text())
                    return done({.status = claim_status::held, .at = time_in(answers[1])});
                learn_head(answers[0].text);
                done({.status = claim_status::waiting});
            });
    }

    /// Where it stands by now; if it is first, it has another id after that, and all the time that it may have. A
    /// first element whose time is over is removed on the way.
    void find(heard done) {
        const auto due = head_due();
        const std::string overdue = due && *due <= talk_.now() ? head_ : std::string{};
        std::vector<words> asked;
        if (const auto dead = element::read(overdue))
            asked.push_back(call(redturn_scripts::remove, {name_}, {dead->id, dead->channel, queue_.options.notices}));
        const element next = queue_.next_element();
        asked.push_back(refresh_to(next));
        asked.push_back({"TIME"});
        talk_.ask(std::move(asked), [this, overdue, next, done = std::move(done)](const answers& answers) {
            const resp::value& found = answers[answers.size() - 2];
            const bool first = learn(next, found);
            if (const auto* error = error_in(answers)) return done(failure_of(*error));
            if (first) {
                claim_result held{.status = claim_status::held, .at = time_in(answers.back())};
                if (!overdue.empty() && says_yes(answers[0])) held.abandoned = {mark_of(overdue)};
                return done(held);
            }
            // Taken for dead, or it never arrived.
            if (!left_ && !says_yes(found)) return add(done);
            done({.status = claim_status::waiting});
        });
    }

    /// Scripts answer with the first element, and whether that was what was asked for.
    [[nodiscard]] static bool says_yes(const resp::value& answer) {
        return answer.items.size() == 2 && answer.items[1].number == 1;
    }

    /// Makes the first element, if it is any that we may have, another one. From now on that is one of them.
    [[nodiscard]] words refresh_to(const element& next) {
        words said = call(redturn_scripts::refresh, {name_}, {next.text()});
        for (const element& each : perhaps_) said.push_back(each.text());
        perhaps_.push_back(next);
        return said;
    }

    /// What came of that: true if `next` is the first element.
    bool learn(const element& next, const resp::value& found) {
        const std::string head = found.items.empty() ? std::string{} : found.items[0].text;
        const auto at = std::ranges::find(perhaps_, next.id, &element::id);
        if (at == perhaps_.end()) return false;
        if (head == next.text()) {
            forget(perhaps_.begin(), at);  // those before it cannot come back
            return true;
        }
        forget(at, at + 1);
        learn_head(head);
        return false;
    }
    void forget(std::vector<element>::iterator from, std::vector<element>::iterator to) {
        for (auto each = from; each != to; ++each) queue_.ids.erase(each->id);
        perhaps_.erase(from, to);
    }

    /// Where something else stands under the name, there is no queue any more; all other leases live on.
    void not_renewed(const element& next, const resp::value& error, const heard& done) {
        if (const claim_result why = failure_of(error); why.error != errc::foreign_data) return done(why);
        learn(next, {});
        done({.status = claim_status::gone});
    }

    void learn_head(const std::string& head) {
        if (head == head_) return;
        head_ = head;
        head_since_ = talk_.now();
    }
    [[nodiscard]] std::optional<protocol::instant> head_due() const {
        const auto head = element::read(head_);
        if (!head) return {};
        return head_since_ + head->timeout;
    }
    [[nodiscard]] protocol::mark mark_of(const std::string& dead) const {
        return {element::read(dead)->label(), 0, protocol::instant{talk_.server_now().time_since_epoch()}, 1};
    }

    talk& talk_;
    redturn_queue& queue_;
    const std::string name_;
    element first_;                 // as it was added
    std::vector<element> perhaps_;  // all that the server may have of it, in the order in which they were asked for
    std::size_t adds_ = 0;
    bool left_ = false;
    std::string head_;  // as it was learnt last, while it was another's
    protocol::instant head_since_;
};

class redturn_speaker final : public dialect::speaker {
public:
    redturn_speaker(talk& talk, const redturn_options& options)
        : talk_{talk}, queue_{options, hex(talk.random_bytes()), 0, {}} {}

    [[nodiscard]] std::vector<words> first_words() override { return {{"SUBSCRIBE", queue_.channel}}; }

    [[nodiscard]] std::unique_ptr<queue_entry> make_entry(const claim& claim, const protocol::enter_options&) override {
        return std::make_unique<redturn_entry>(talk_, queue_, claim.resource);
    }

    /// `id:resource`, or `resource:id`. What was told to nobody that is here stands in the way of others.
    [[nodiscard]] std::string heard(const resp::value& message) override {
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
        talk_.ask({call(redturn_scripts::remove, {resource}, {id, queue_.channel, queue_.options.notices})},
                  [](const answers&) {});
        return {};
    }

    /// There is no prefix: a list is one of ours if all its elements look so.
    void list(const inspect_filter& filter, list_answer done) override {
        if (filter.how == inspect_filter::match::exact) return list_names({filter.name}, done);
        words pattern{"TYPE", "list"};
        if (filter.how == inspect_filter::match::prefix)
            pattern.insert(pattern.end(), {"MATCH", literal(filter.name) + "*"});
        scan(talk_, pattern,
             [this, done = std::move(done)](std::error_code error, const std::vector<std::string>& names) {
                 if (error) return done(error, {});
                 list_names(names, done);
             });
    }

private:
    void list_names(const std::vector<std::string>& names, const list_answer& done) {
        if (names.empty()) return done({}, {});
        std::vector<words> asked;
        for (const std::string& name : names) asked.push_back(call(redturn_scripts::elements, {name}, {}));
        talk_.ask(std::move(asked), [names, done](const answers& answers) {
            listing found;
            for (std::size_t i = 0; i < names.size(); ++i) {
                const auto& elements = answers[i].items;
                if (!std::ranges::all_of(elements,
                                         [](const auto& each) { return element::read(each.text).has_value(); }))
                    continue;
                for (std::size_t place = 0; place < elements.size(); ++place) {
                    const auto each = element::read(elements[place].text);
                    found.requests.push_back({names[i], each->label(), place == 0});
                }
            }
            done({}, std::move(found));
        });
    }

    talk& talk_;
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
    [[nodiscard]] std::unique_ptr<speaker> make_speaker(talk& talk) const override {
        return std::make_unique<redturn_speaker>(talk, options_);
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
