import BusProtocol
import EventLoop

/// Calls in the order of their arrival. Calls that have ended are skipped.
@Loop struct CallQueue {
    private var calls: [Call] = []
    /// The calls before this index have left. The array is compacted only when half of it has left.
    private var head = 0

    nonisolated init() {}

    var isEmpty: Bool { head == calls.count }
    var count: Int { calls.count - head }

    mutating func append(_ call: Call) { calls.append(call) }

    var first: Call? {
        mutating get {
            while head < calls.count, calls[head].isDone { removeFirst() }
            return head < calls.count ? calls[head] : nil
        }
    }

    mutating func removeFirst() {
        head += 1
        guard head * 2 > calls.count else { return }
        calls.removeFirst(head)
        head = 0
    }

    /// Ends and removes every call for which `verdict` returns an error.
    mutating func end(_ verdict: (Call) -> BusError?) {
        guard !isEmpty else { return }
        var left: [Call] = []
        for call in calls[head...] where !call.isDone {
            if let error = verdict(call) { call.finish(.failure(error)) } else { left.append(call) }
        }
        (calls, head) = (left, 0)
    }
}
