// Shared by the tests of redturn: its queues on the server.
#pragma once

#include "dialect_test.hpp"

namespace baton::dialect_tests {

class RedturnTest : public Dialect {
protected:
    RedturnTest() : Dialect{"redturn"} {}

    [[nodiscard]] std::vector<std::string> queue(const std::string& name) const {
        std::vector<std::string> elements;
        for (const resp::value& each : ask({"LRANGE", name, "0", "-1"}).items) elements.push_back(each.text);
        return elements;
    }
    [[nodiscard]] std::string head(const std::string& name) const { return ask({"LINDEX", name, "0"}).text; }
    [[nodiscard]] bool grows_to(const std::string& name, std::int64_t length) const {
        return eventually([&] { return ask({"LLEN", name}).number == length; });
    }
    [[nodiscard]] bool nothing_is_left() const {
        return eventually([&] { return keys().empty(); });
    }

    static std::string id_of(const std::string& element) { return element.substr(0, element.find(':')); }
    static std::string channel_of(const std::string& element) {
        const std::size_t first = element.find(':') + 1;
        return element.substr(first, element.find(':', first) - first);
    }

    /// Waits until all that reached the client has had its effect: the reply to this acquire comes last.
    static void drain(client& ours) { EXPECT_TRUE(ours.try_acquire(exclusive("drain"))); }
};

}  // namespace baton::dialect_tests
