/// All public headers except the Asio adapter, <baton/asio.hpp>.
#pragma once

#include "baton/claim.hpp"
#include "baton/client.hpp"
#include "baton/error.hpp"
#include "baton/if_unavailable.hpp"
#include "baton/inspect.hpp"
#include "baton/lease.hpp"
#include "baton/mutex.hpp"
#include "baton/observer.hpp"
#include "baton/printable.hpp"
#include "baton/semaphore.hpp"
#include "baton/shared_mutex.hpp"
#include "baton/store.hpp"
