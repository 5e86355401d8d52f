@testable import BusProtocol

private struct Frame: Equatable {
    let header: FrameHeader
    let body: [UInt8]
}

/// Every frame that can be read can be written again. It is then read as the same frame: by itself, in two parts, and
/// in a bundle.
func checkFrame(_ bytes: [UInt8]) throws(BrokenPromise) {
    if case .success(let header) = FrameHeader.decoded(bytes) {
        try promise(header.isWritable, "A header that is read cannot be written.")
        try promise(FrameHeader.decoded(header.encoded()) == .success(header), "A header changes when it is written.")
    }
    let message = readMessage(bytes)
    var bundle = FrameBundle()
    for frame in message.frames {
        guard let frame else { return }
        try promise(frame.header.isWritable, "The header of a frame that is read cannot be written.")
        try promise(Int(frame.header.bodyLength) == frame.body.count, "A body has another length than its header says.")
        let written = frame.header.encoded(before: frame.body)
        try promise(readMessage(written).frames == [frame], "A frame changes when it is written.")
        bundle.append(frame.header, frame.body)
    }
    guard message.isWhole, !bundle.isEmpty else { return }
    let again = bundle.withMessage { readMessage(Array($0)) }
    try promise(again.isWhole && again.frames == message.frames, "A bundle changes when it is written.")
}

/// The frames of a message, `nil` for what is no frame, and whether the bundle is whole.
private func readMessage(_ bytes: [UInt8]) -> (frames: [Frame?], isWhole: Bool) {
    var frames: [Frame?] = []
    let isWhole = bytes.withUnsafeBytes { bytes in
        FrameBundle.read(bytes) { part in
            let frame = try? FrameHeader.read(part)
            frames.append(frame.map { Frame(header: $0.header, body: Array($0.body)) })
        }
    }
    return (frames, isWhole)
}
