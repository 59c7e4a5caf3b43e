internal import Glibc

/// Takes the numbers of standard input, output and error that are closed, so that no file of the command gets them and
/// what is printed does not land in one. To use them stays an error.
public func reserveStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
        guard open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) == descriptor else {
            return
        }
    }
}
