@main struct VestibuleCLIMain {
    static func main() {}
}
