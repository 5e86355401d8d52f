import CLinux

/// The memory of this process.
package enum ProcessMemory {
    /// The bytes that are allocated and not freed.
    ///
    /// The resident memory of a process also counts the free memory that `malloc` keeps for later, and the pages of its
    /// program. So it rises for a while even if nothing leaks. Of the kept memory, this figure counts only the part for
    /// each thread, some 200 KB at most.
    package static var inUse: Int {
        let info = mallinfo2()
        return info.uordblks + info.hblkhd
    }
}
