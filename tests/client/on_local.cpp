// Tests of any store, on `local:` with a private agent.
#include "../local/agent_process.hpp"
#include "any_store.hpp"

namespace baton::client_tests {
namespace {

class agent_of_its_own final : public any_store {
public:
    [[nodiscard]] std::string url() const override { return place_.url(); }
    [[nodiscard]] std::size_t allocations_allowed() const override { return 8; }
    void stop() const override { kill(agent_.process(), SIGSTOP); }
    void go_on() const override { kill(agent_.process(), SIGCONT); }

private:
    local_tests::workplace place_;
    local_tests::agent_process agent_{place_};
};

}  // namespace

std::unique_ptr<any_store> start_store() { return std::make_unique<agent_of_its_own>(); }

}  // namespace baton::client_tests
