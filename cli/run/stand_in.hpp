// Tells the guardian which session to keep alive while baton is stopped, and the client what came of it.
#pragma once

#include <mutex>
#include <string>

#include "program/stand_in.hpp"
#include "run/guardian.hpp"

namespace baton::cli {

class guardian_stand_in final : public detail::stand_in {
public:
    guardian_stand_in(guardian& guardian, std::string address, milliseconds ttl)
        : guardian_{guardian}, kept_{.address = std::move(address), .session = {}, .ttl = ttl} {}

    void keep(const protocol::session_id& session, lineage lineage) noexcept override {
        kept_session kept;
        {
            const std::lock_guard lock{mutex_};
            kept_.session = session;
            kept_.lineage = lineage;
            ++kept_.number;
            kept = kept_;
        }
        // Without the lock: a guardian that is stopped may keep this waiting, and the client must not wait with it.
        guardian_.link().send(order{kept});
    }
    [[nodiscard]] std::optional<detail::client_time> renewed(const protocol::session_id& session,
                                                             lineage lineage) noexcept override {
        const std::lock_guard lock{mutex_};
        if (kept_.session != session || kept_.lineage != lineage) return {};
        return guardian_.page().renewal_of(kept_.number);
    }

private:
    guardian& guardian_;
    std::mutex mutex_;
    kept_session kept_;
};

}  // namespace baton::cli
