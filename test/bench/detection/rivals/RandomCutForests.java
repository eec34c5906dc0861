import com.amazon.randomcutforest.config.TransformMethod;
import com.amazon.randomcutforest.parkservices.ThresholdedRandomCutForest;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Scores of random cut forests, one forest a series, values normalised by the forest itself. Two files of
 * little-endian doubles. Read: for each series its rows, its channels and the values row by row. Written: observations
 * (values) for each second of processor time, and a score for each row.
 */
public class RandomCutForests {
    public static void main(String[] args) throws Exception {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(Path.of(args[0]))).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer out = ByteBuffer.allocate(8 + in.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        out.putDouble(0);
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        // Until here the virtual machine warms up.
        int warm = in.remaining() / 4;
        long begunNanos = 0;
        long measured = 0;
        while (in.hasRemaining()) {
            int rows = (int) in.getDouble();
            int channels = (int) in.getDouble();
            ThresholdedRandomCutForest forest = ThresholdedRandomCutForest.builder().dimensions(8 * channels)
                    .shingleSize(8).numberOfTrees(50).sampleSize(256).randomSeed(42)
                    .transformMethod(TransformMethod.NORMALIZE).build();
            double[] point = new double[channels];
            for (int row = 0; row < rows; row++) {
                if (begunNanos == 0 && in.position() >= warm) begunNanos = system.getProcessCpuTime();
                for (int channel = 0; channel < channels; channel++) {
                    double value = in.getDouble();
                    // What is missing repeats.
                    if (!Double.isNaN(value)) point[channel] = value;
                }
                out.putDouble(forest.process(point.clone(), row * 60L).getRCFScore());
                if (begunNanos != 0) measured += channels;
            }
        }
        out.putDouble(0, measured * 1e9 / (system.getProcessCpuTime() - begunNanos));
        out.flip();
        byte[] bytes = new byte[out.remaining()];
        out.get(bytes);
        Files.write(Path.of(args[1]), bytes);
    }
}
