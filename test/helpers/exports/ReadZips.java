/* Reads ZIP files as streams, as programs do that unpack a download while it arrives. */
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

class ReadZips {
  /** Prints path, name, bytes and CRC-32 of every entry, separated by tabs. */
  public static void main(String[] paths) throws IOException {
    for (String path : paths) {
      try (var zip = new ZipInputStream(new BufferedInputStream(new FileInputStream(path)))) {
        byte[] buffer = new byte[65536];
        for (ZipEntry entry; (entry = zip.getNextEntry()) != null; ) {
          long bytes = 0;
          for (int read; (read = zip.read(buffer)) >= 0; ) bytes += read;
          // Sizes and checksum are known once the entry is read, and are compared with what was read.
          System.out.println(path + "\t" + entry.getName() + "\t" + bytes + "\t" + entry.getCrc());
        }
      }
    }
  }
}
