/// Which of the languages that there are a person reads best.
enum LanguageChoice {
    /// - Parameters:
    ///   - header: `Accept-Language`; what cannot be read in it is passed over.
    ///   - languages: what there is, the one for everybody else first.
    static func best(of header: String?, among languages: [String]) -> String? {
        var best: (language: String, quality: Double)?
        for range in (header ?? "").lowercased().split(separator: ",") {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " } }
            guard let tag = parts.first else { continue }
            let given = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 }
            let quality = given ?? 1
            // sv-FI is read by who reads sv.
            let language = tag == "*" ? languages.first : languages.first { tag == $0 || tag.hasPrefix("\($0)-") }
            guard let language, quality > 0, quality > best?.quality ?? 0 else { continue }
            best = (language, quality)
        }
        return best?.language ?? languages.first
    }
}
