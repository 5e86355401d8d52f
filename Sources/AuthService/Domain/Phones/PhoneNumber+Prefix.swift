extension PhoneNumber {
    /// The country code and the next four digits. Numbers that were bought in bulk usually share them.
    var destinationPrefix: String {
        let digits = e164.utf8.dropFirst().map { $0 - UInt8(ascii: "0") }
        let code = NumberingPlan.current.callingCode(of: digits)?.count ?? 0
        return String(e164.dropFirst().prefix(code + 4))
    }
}
