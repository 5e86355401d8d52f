@main struct RecoveryServiceMain {
    static func main() {}
}
