/// The version of the library, which is that of the packaging.
package let libraryVersion = "0.1.0"
