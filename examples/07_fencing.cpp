// No lease can stop a process that was stopped and then writes late. So the protected data checks the fence: it keeps
// the largest fence that has written, and refuses smaller ones.
#include <baton/baton.hpp>

#include <iostream>
#include <string>

namespace {

class ledger {
public:
    bool write(const std::string& text, std::uint64_t fence) {
        if (fence < newest_) return false;
        newest_ = fence;
        last_ = text;
        return true;
    }
    [[nodiscard]] const std::string& last() const { return last_; }

private:
    std::uint64_t newest_ = 0;
    std::string last_;
};

}  // namespace

int main() {
    baton::client client{"memory:"};
    ledger ledger;

    baton::lease slow = client.acquire(baton::exclusive("ledger"));
    const std::uint64_t stale = slow.fence();
    slow.release();  // as if the process had been stopped until its lease expired

    const baton::lease next = client.acquire(baton::exclusive("ledger"));
    std::cout << "fence " << next.fence() << (ledger.write("new", next.fence()) ? ": written\n" : ": refused\n");
    std::cout << "fence " << stale << (ledger.write("old", stale) ? ": written\n" : ": refused\n");
    std::cout << "the ledger says " << ledger.last() << '\n';
}

// Output:
// fence <number>: written
// fence <number>: refused
// the ledger says new
