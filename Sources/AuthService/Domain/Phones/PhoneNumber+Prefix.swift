extension PhoneNumber {
    /// The country code and the first four digits behind it: as much as numbers that somebody bought in bulk have in common.
    var destinationPrefix: String {
        let digits = e164.utf8.dropFirst().map { $0 - UInt8(ascii: "0") }
        let code = NumberingPlan.current.callingCode(of: digits)?.count ?? 0
        return String(e164.dropFirst().prefix(code + 4))
    }
}
