import BusProtocol
import BusRuntime
import EventLoop

extension Configuration {
    /// The bus keys of this program.
    ///
    /// - Throws: ``ConfigurationError`` that names the variable.
    @Loop package func busSecurity() throws(ConfigurationError) -> BusSecurity {
        let (key, list) = (try text("BUS_KEY"), try text("BUS_ALLOWED"))
        do throws(BusSecurity.KeyError) {
            return try BusSecurity(secret: key, allowList: list)
        } catch {
            throw ConfigurationError("BUS_KEY or BUS_ALLOWED: \(error.description)")
        }
    }

    /// Where to find the services that a program calls.
    package func discoveries(of peers: [ServiceName]) throws(ConfigurationError) -> [ServiceName: Discovery] {
        var found: [ServiceName: Discovery] = [:]
        for peer in peers {
            let name = CommonVariables.discovery(peer).name
            let text = try text(name)
            do throws(Discovery.ParseError) {
                found[peer] = try Discovery(text)
            } catch {
                throw ConfigurationError("\(name): \(error.description)")
            }
        }
        return found
    }
}
