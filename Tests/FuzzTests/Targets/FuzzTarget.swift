/// A promise that a reader broke for some bytes.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
}

/// Breaks off the case unless the condition holds.
func promise(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(BrokenPromise) {
    if !condition { throw BrokenPromise(description: sentence()) }
}

/// The readers that take bytes from strangers. `scripts/fuzz` gives each any bytes, and the tests give it the bytes that
/// the fuzzer kept.
enum FuzzTarget: String, CaseIterable, Sendable {
    case frame, head, chunked, json, number, jpeg, png, definition

    /// The most bytes that the fuzzer gives.
    var mostBytes: Int {
        switch self {
        case .number: 64
        case .definition: 256
        case .frame, .head, .chunked, .json: 512
        case .jpeg, .png: 1024
        }
    }

    /// Reads the bytes, and looks whether the reader keeps its promises.
    func run(_ bytes: [UInt8]) throws {
        switch self {
        case .frame: try checkFrame(bytes)
        case .head: try checkRequests(bytes)
        case .chunked: try checkChunked(bytes)
        case .json: try checkJSON(bytes)
        case .number: try checkNumber(bytes)
        case .jpeg: try checkPicture(bytes)
        case .png: try checkPNG(bytes)
        case .definition: try checkDefinition(bytes)
        }
    }
}
