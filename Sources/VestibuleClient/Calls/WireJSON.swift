import Foundation

/// JSON in the form of the API: a time is a text in UTC, with up to six digits after the second.
public enum WireJSON {
    /// Reads JSON from ``encoder()`` and from the server.
    public static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = date(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no time in UTC.")
            }
            return date
        }
        return decoder
    }

    /// Writes bodies for the server. Times have milliseconds. Equal values have equal bytes, which the server requires
    /// of a repetition with the same `Idempotency-Key`.
    public static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        }
        return encoder
    }

    private static func date(_ text: String) -> Date? {
        guard text.hasSuffix("Z") else { return nil }
        let parts = text.dropLast().split(separator: ".", maxSplits: 1)
        guard let first = parts.first, let date = try? Date("\(first)Z", strategy: .iso8601) else { return nil }
        guard parts.count == 2 else { return date }
        return Double("0.\(parts[1])").map { date.addingTimeInterval($0) }
    }
}
