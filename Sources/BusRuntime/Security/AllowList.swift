import BusProtocol

/// The public keys of the services and operators that may connect to the bus.
///
/// The file has one line `NAME KEY` for each key. A line that starts with `#` is a comment. A service may have several
/// keys, so that a key can be replaced while its replicas restart one after another.
package struct AllowList: Sendable, Equatable {
    /// A malformed line of the file.
    package struct ParseError: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    private var names: [BusKey: ServiceName] = [:]
    private var keys: [ServiceName: [BusKey]] = [:]

    /// Reads the text of the file.
    ///
    /// - Throws: ``ParseError`` with the number of the line.
    package init(_ text: String) throws(ParseError) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let name = words.first, !name.hasPrefix("#") else { continue }
            guard words.count == 2, let key = BusKey(base64: words[1]) else {
                throw ParseError(description: "line \(index + 1): expected a name and a public key of 44 characters")
            }
            let service = ServiceName(rawValue: String(name))
            guard names[key] == nil || names[key] == service else {
                throw ParseError(description: "line \(index + 1): this key is already listed under another name")
            }
            guard names.updateValue(service, forKey: key) == nil else { continue }
            keys[service, default: []].append(key)
        }
    }

    /// The owner of a key; `nil` if it is not on the list.
    package func service(of key: BusKey) -> ServiceName? { names[key] }

    /// The keys of a service, in the order of the file.
    package func keys(of service: ServiceName) -> [BusKey] { keys[service] ?? [] }
}
