import Foundation
import Synchronization

extension Array where Element: Sendable {
    /// Runs a body on all elements at once, each on a thread of its own, so that their waiting times do not add up.
    ///
    /// - Returns: the results in the order of the elements.
    func together<Value: Sendable>(
        _ body: @escaping @Sendable (Element) throws -> Value
    ) -> [Result<Value, any Error>] {
        let (answers, done) = (Answers<Value>(), DispatchGroup())
        for (place, element) in enumerated() {
            done.enter()
            Thread.detachNewThread {
                let result = Result { try body(element) }
                answers.byPlace.withLock { $0[place] = result }
                done.leave()
            }
        }
        done.wait()
        return answers.byPlace.withLock { answers in indices.compactMap { answers[$0] } }
    }
}

private final class Answers<Value: Sendable>: Sendable {
    let byPlace = Mutex<[Int: Result<Value, any Error>]>([:])
}
