import Testing
import Values

@testable import HTTPServer

@Suite("Header fields") struct HeadersTests {
    @Test("names ignore case and keep the order of their values")
    func findsNames() {
        let headers: HTTPHeaders = ["Accept": "a", "x": "", "ACCEPT": "b", "accept-language": "sv", "accepT": "c"]
        #expect(headers.first("accept") == "a" && headers.all("aCCept") == ["a", "b", "c"])
        #expect(headers.first("x") == "" && headers.first("accep") == nil && headers.all("y") == [])
        #expect(headers.count == 5)
    }

    @Test("setting a name replaces all its fields and no others")
    func replaces() {
        var headers: HTTPHeaders = ["a": "1", "B": "2", "b": "3", "c": "4"]
        headers.set("b", "5")
        #expect(headers == ["a": "1", "c": "4", "b": "5"])
        headers.set("d", "6")
        #expect(headers == ["a": "1", "c": "4", "b": "5", "d": "6"])
        #expect(headers != ["a": "1", "b": "5", "c": "4", "d": "6"])
        #expect(headers != ["a": "1c", "c": "", "b": "5", "d": "6"])
    }

    @Test("the fast scan finds the same end of printable ASCII")
    func findsTheEndOfPrintableASCII() {
        for length in 0...20 {
            for place in 0..<max(length, 1) {
                for byte in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: UInt8(ascii: "~"), count: length)
                    if length > 0 { bytes[place] = byte }
                    let expected = bytes.firstIndex { $0 < 0x20 || $0 > 0x7e } ?? length
                    #expect(bytes.withUnsafeBytes { PrintableASCII.prefix(of: $0) } == expected)
                }
            }
        }
    }
}
