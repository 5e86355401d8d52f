#pragma once
#include <zmq.h>

/// Absent from the header and present in the library: a socket without a ZAP handler then refuses everybody.
#define CZMQ_ZAP_ENFORCE_DOMAIN 93
