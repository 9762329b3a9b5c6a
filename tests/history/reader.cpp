#include "reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

namespace baton::history {
namespace {

class reading {
public:
    void add(line line, bool whole) {
        if (!whole) return reject("the line is incomplete", {}, std::move(line));
        const auto event = from_line(line.text);
        if (!event) return reject("the line is not valid", {}, std::move(line));
        newest_ = std::max(newest_, event->at);
        if (event->verb == verb::killed) {
            killed_.emplace(event->whom, std::pair{event->at, std::move(line)});
            return;
        }
        if (event->verb == verb::reopened) {
            made_.reopened[event->who].push_back(event->at);
            return;
        }
        if (event->ticket != 0) made_.tickets.push_back({event->at, event->ticket, line});
        if (event->number == 0) return;
        const auto [found, is_new] = places_.emplace(std::pair{event->who, event->number}, made_.requests.size());
        if (event->verb == verb::asked) {
            if (!is_new) return reject("the request exists already", made_.requests[found->second].asked_line, line);
            made_.requests.push_back(request_of(*event, std::move(line)));
            return;
        }
        if (is_new) {
            places_.erase(found);
            return reject("the request does not exist", {}, std::move(line));
        }
        take(made_.requests[found->second], *event, std::move(line));
    }

    record done() {
        for (request& request : made_.requests) finish(request);
        return std::move(made_);
    }

private:
    static request request_of(const event& event, line line) {
        request made;
        made.who = event.who;
        made.number = event.number;
        made.claims = event.claims;
        made.asked = event.at;
        made.asked_line = std::move(line);
        return made;
    }

    void take(request& request, const event& event, line line) {
        if (request.end_line) return reject("the request has ended already", request.end_line, std::move(line));
        switch (event.verb) {
            case verb::held: return hold(request, event, std::move(line));
            case verb::still:
                if (!request.granted) return reject("the request is not held", request.asked_line, std::move(line));
                request.end = event.until.value_or(moment::max());
                return;
            case verb::released:
            case verb::lost:
                if (!request.granted) return reject("the request is not held", request.asked_line, std::move(line));
                request.end = event.at;
                request.lost = event.verb == verb::lost;
                break;
            case verb::gave_up:
            case verb::refused:
                if (request.granted) return reject("the request is held", request.held_line, std::move(line));
                request.gave_up = event.verb == verb::gave_up;
                break;
            default: return;  // queued: only its ticket is recorded
        }
        request.end_line = std::move(line);
    }

    void hold(request& request, const event& event, line line) {
        if (request.granted) return reject("the request is held already", request.held_line, std::move(line));
        request.granted = true;
        request.believed = !event.until || *event.until > event.at;
        request.fence = event.fence;
        request.ticket = event.ticket;
        request.slots = event.slots;
        request.begin = event.at;
        request.end = event.until.value_or(moment::max());
        request.held_line = std::move(line);
    }

    /// A window without an end line ends with its process, but not later than the holder's belief ends by itself.
    void finish(request& request) {
        if (!request.end_line) {
            moment death = newest_;
            if (const auto found = killed_.find(request.who); found != killed_.end()) {
                request.killed = true;
                request.end_line = found->second.second;
                death = found->second.first;
            }
            request.end = std::min(request.end, death);
        }
        request.end = std::max(request.end, request.begin + moment{1});
    }

    void reject(std::string what, line before, line here) {
        made_.misfits.push_back({std::move(what), std::move(before), std::move(here)});
    }

    record made_;
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> places_;
    std::map<std::string, std::pair<moment, line>> killed_;
    moment newest_{};
};

}  // namespace

record read(std::string_view log) {
    reading reading;
    for (std::size_t number = 1; !log.empty(); ++number) {
        const std::size_t end = log.find('\n');
        reading.add({number, std::string{log.substr(0, end)}}, end != std::string_view::npos);
        log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
    }
    return reading.done();
}

record read_file(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) throw std::runtime_error{"cannot open the history " + path};
    return read(std::string{std::istreambuf_iterator<char>{file}, {}});
}

}  // namespace baton::history
